package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.StorageException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.FileSystem;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** S3A of Hadoop 3.3.4 and 3.4.1, which cannot write on a condition: tables are read only. */
@Tag("tier-3")
final class OlderS3aTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.BYTES).build();

  @TempDir
  static Path directory;

  private static S3Server server;

  @BeforeAll
  static void start() throws IOException {
    server = new S3Server(Path.of(System.getProperty("zrecord.test.s3proxy")), directory);
    Path table = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < 1000; i++) {
        records.set("value", new byte[i]).endRecord();
      }
      writer.commit();
    }
    copy(table, new org.apache.hadoop.fs.Path(server.bucket() + "/table"));
  }

  /** Copies a table as another program would; only who commits needs the condition. */
  private static void copy(Path table, org.apache.hadoop.fs.Path target) throws IOException {
    FileSystem files = target.getFileSystem(server.settings());
    List<Path> all;
    try (Stream<Path> found = Files.walk(table)) {
      all = found.filter(Files::isRegularFile).toList();
    }
    for (Path file : all) {
      org.apache.hadoop.fs.Path copy =
          new org.apache.hadoop.fs.Path(target, table.relativize(file).toString());
      try (OutputStream out = files.create(copy, true)) {
        Files.copy(file, out);
      }
    }
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  private static Storage storage() {
    return HadoopStorage.at(server.bucket() + "/table", server.settings());
  }

  @Test
  void tablesAreRead() {
    try (RecordDataset dataset = RecordDataset.open(storage(), ReadOptions.defaults())) {
      assertThat(dataset.length()).isEqualTo(1000);
      var reader = dataset.reader("value");
      reader.select(new long[] {999, 7}, 0, 2);
      assertThat(reader.value(0)).hasSize(999);
      assertThat(reader.value(1)).hasSize(7);
    }
    assertThat(storage().listTree("manifest"))
        .extracting(StoredFile::name)
        .contains("00000000000000000000.json");
    assertThat(storage().exists("manifest")).isTrue();
    assertThat(storage().exists("no")).isFalse();
  }

  @Test
  void writingIsRefusedWithTheReason() {
    assertThatThrownBy(() -> storage().create("shard/x"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("needs Hadoop 3.4.2 or later (Spark 4.1)")
        .hasMessageContaining("reading works");
    assertThatThrownBy(() -> storage().publish("manifest/x", new byte[1]))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("needs Hadoop 3.4.2");
    assertThat(storage().exists("shard/x")).isFalse();
  }

  /** Even if the file system were taken for one that can. */
  @Test
  void theConditionItselfIsRefusedToo() throws IOException {
    org.apache.hadoop.fs.Path file =
        new org.apache.hadoop.fs.Path(server.bucket() + "/table/manifest/y");
    FileSystem files = file.getFileSystem(server.settings());
    assertThatThrownBy(() -> Publication.CONDITIONAL_CREATE.publish(files, file, new byte[1]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("fs.option.create.conditional.overwrite");
    assertThat(files.exists(file)).isFalse();
  }
}
