package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.FileUnavailableException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import java.io.IOException;
import java.nio.file.Path;
import java.security.PrivilegedAction;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.security.UserGroupInformation;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of storages on HDFS, with a name node and a data node in this process. */
final class HdfsStorageTest extends StorageContractTest {
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
        cluster.getFileSystem().getUri() + "/data of " + UUID.randomUUID(),
        cluster.getConfiguration(0));
  }

  @Test
  void aFirstWriteThatIsDeniedSaysSo() throws IOException {
    FileSystem files = cluster.getFileSystem();
    org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path("/of " + UUID.randomUUID());
    files.mkdirs(root);
    files.setPermission(root, FsPermission.valueOf("drwxr-xr-x"));
    Storage storage = UserGroupInformation.createRemoteUser("stranger")
        .doAs((PrivilegedAction<Storage>)
            () -> HadoopStorage.at(files.getUri() + root.toString(), cluster.getConfiguration(0)));
    assertThatThrownBy(() -> storage.publish("first", new byte[1]))
        .isInstanceOf(FileUnavailableException.class)
        .hasMessageContaining("access is denied");
    assertThatThrownBy(() -> storage.create("first"))
        .isInstanceOf(FileUnavailableException.class)
        .hasMessageContaining("access is denied");
  }

  @Test
  void aPublicationThatIsDeniedBeforeTheFileIsThereIsNoUnknownOutcome() throws IOException {
    FileSystem files = cluster.getFileSystem();
    org.apache.hadoop.fs.Path root = new org.apache.hadoop.fs.Path("/of " + UUID.randomUUID());
    files.mkdirs(root);
    files.setPermission(root, FsPermission.valueOf("drwxrwxrwx"));
    Storage storage = UserGroupInformation.createRemoteUser("guest")
        .doAs((PrivilegedAction<Storage>)
            () -> HadoopStorage.at(files.getUri() + root.toString(), cluster.getConfiguration(0)));
    assertThat(storage.publish("first", new byte[1])).isTrue();

    files.setPermission(root, FsPermission.valueOf("drwxr-xr-x"));
    assertThatThrownBy(() -> storage.publish("second", new byte[1]))
        .isInstanceOf(FileUnavailableException.class)
        .hasMessageContaining("Cannot publish")
        .hasMessageContaining("access is denied");
    assertThat(storage.exists("second")).isFalse();
  }
}
