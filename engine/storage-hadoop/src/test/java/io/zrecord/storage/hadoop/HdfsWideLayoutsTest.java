package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.table.WideLayouts;
import java.io.IOException;
import java.nio.file.Path;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Changes of many values, and moves of records, on HDFS. */
@Tag("tier-3")
final class HdfsWideLayoutsTest extends WideLayouts {
  @TempDir
  static Path directory;

  private static MiniDFSCluster cluster;

  @BeforeAll
  static void start() throws IOException {
    Configuration settings = new Configuration();
    settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, directory.toString());
    cluster = new MiniDFSCluster.Builder(settings).numDataNodes(1).build();
    cluster.waitActive();
  }

  @AfterAll
  static void stop() {
    cluster.shutdown();
  }

  @Override
  protected Storage emptyStorage() throws IOException {
    return HadoopStorage.at(
        cluster.getFileSystem().getUri() + "/" + UUID.randomUUID(), cluster.getConfiguration(0));
  }
}
