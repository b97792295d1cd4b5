package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** import and export. */
final class ImportExportTest {
  @TempDir
  Path directory;

  @Test
  void filesBelowADirectoryBecomeRecordsInTheOrderOfTheirNames() throws IOException {
    Path folder = Files.createDirectories(directory.resolve("folder/b/c"));
    Files.writeString(folder.resolve("ä.txt"), "three");
    Files.writeString(directory.resolve("folder/a.txt"), "one");
    Files.write(directory.resolve("folder/b/0"), new byte[0]);
    Files.writeString(directory.resolve("folder/z"), "four");
    Files.createSymbolicLink(directory.resolve("folder/link"), Path.of("a.txt"));
    Path table = directory.resolve("table");
    Cli.Said said = Cli.run("import", "files", directory.resolve("folder"), table);
    assertThat(said.exitCode()).isZero();
    assertThat(said.out())
        .isEqualTo(
            "imported 4 files, 12 bytes, to " + table + "; left out 1 links and special files\n");
    assertThat(Cli.run("get", table, 0, 1, 2, 3, "--as", "text").lines())
        .containsExactly(
            "record 0",
            "  path: a.txt",
            "  content: one",
            "record 1",
            "  path: b/0",
            "  content: ",
            "record 2",
            "  path: b/c/ä.txt",
            "  content: three",
            "record 3",
            "  path: z",
            "  content: four");
    assertThat(Cli.run("verify", table).exitCode()).isZero();
    assertThat(Cli.run("info", table).out())
        .contains("a table")
        .contains("version 0 of 0 to 0: create")
        .contains("4 records in 1 shards, 1 chunks");
    assertThat(Cli.run("import", "files", directory.resolve("folder"), table).exitCode())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(
            Cli.run("import", "files", directory.resolve("folder"), directory.resolve("folder/x"))
                .err())
        .contains("among the files");
    assertThat(directory.resolve("folder/x")).doesNotExist();
  }

  @Test
  void arraysGoInAndComeOutAgain() throws IOException {
    Path images = npy("images.npy", "|u1", "(300, 7, 5)", 300 * 35);
    Path labels = npy("labels.npy", "<i8", "(300,)", 300 * 8);
    Path times = npy("times.npy", "<M8[us]", "(300,)", 300 * 8);
    Path days = npy("days.npy", "<M8[D]", "(300,)", 0);
    byte[] dayBytes = new byte[300 * 8];
    for (int i = 0; i < 300; i++) {
      ByteBuffer.wrap(dayBytes)
          .order(ByteOrder.LITTLE_ENDIAN)
          .putLong(8 * i, i % 10 == 0 ? Long.MIN_VALUE : i - 100);
    }
    Files.write(days, concat(Files.readAllBytes(days), dayBytes));
    Path table = directory.resolve("table");
    Cli.Said said = Cli.run("import", "npy", images, "class=" + labels, times, days, table);
    assertThat(said)
        .isEqualTo(new Cli.Said(0, "imported 300 records of 4 fields to " + table + "\n", ""));
    for (Path array : new Path[] {images, labels, times, days}) {
      String name = String.valueOf(array.getFileName());
      Path copy = directory.resolve("copy-" + name);
      String field = name.equals("labels.npy") ? "class" : name.replace(".npy", "");
      assertThat(Cli.run("export", "npy", table, copy, "--field", field).exitCode())
          .isZero();
      assertThat(copy).hasSameBinaryContentAs(array);
      assertThat(Cli.run("export", "npy", table, copy, "--field", field).err())
          .contains("it exists");
    }
    assertThat(Cli.run("export", "npy", table, directory.resolve("x"), "--field", "y")
            .exitCode())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(directory.resolve("x")).doesNotExist();
  }

  @Test
  void anImportIsLaidOutAsAskedFor() throws IOException {
    Path images = npy("images.npy", "|u1", "(300, 7, 5)", 300 * 35);
    Path table = directory.resolve("table");
    assertThat(Cli.run("import", "npy", images, table, "--align-bytes", "4k").exitCode())
        .isZero();
    byte[] array = Files.readAllBytes(images);
    byte[] chunk = onlyChunk(table);
    assertThat(Arrays.copyOfRange(chunk, 4096, 4096 + 300 * 35))
        .isEqualTo(Arrays.copyOfRange(array, array.length - 300 * 35, array.length));
    assertThat(Arrays.copyOfRange(chunk, 64, 4096)).containsOnly(0);

    Path folder = Files.createDirectories(directory.resolve("folder"));
    Files.write(folder.resolve("a"), new byte[] {7, 8, 9, 10, 11, 12, 13, 14, 15, 16});
    Path files = directory.resolve("files");
    assertThat(Cli.run("import", "files", folder, files, "--align-bytes", "8").exitCode())
        .isZero();
    assertThat(onlyChunk(files)).hasSize(64 + 8 + 16);

    Cli.Said wrong = Cli.run("import", "npy", images, directory.resolve("x"), "--align-bytes", "9");
    assertThat(wrong.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(wrong.err()).contains("alignBytes is 9", "a power of two from 8 to 1048576");
    assertThat(directory.resolve("x")).doesNotExist();
  }

  private static byte[] onlyChunk(Path table) throws IOException {
    try (var found = Files.find(table, 4, (path, attributes) -> path.toString().endsWith(".zr"))) {
      return Files.readAllBytes(found.findFirst().orElseThrow());
    }
  }

  @Test
  void whatNoArrayCanHoldIsNotExported() throws IOException {
    Path table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("text", ElementType.UTF8)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("label", 1).endRecord();
      writer.commit();
    }
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("text", "x").endRecord();
      writer.commit();
    }
    Path file = directory.resolve("x.npy");
    assertThat(Cli.run("export", "npy", table, file, "--field", "label").err())
        .contains("record 1 is absent");
    assertThat(Cli.run("export", "npy", table, file, "--field", "text").err())
        .contains("no fixed shape");
    try (var files = Files.list(directory)) {
      assertThat(files).containsExactly(table);
    }
    assertThat(Cli.run("export", "npy", table, file, "--field", "label", "--version", 0)
            .exitCode())
        .isZero();
    assertThat(Cli.run("get", table, 0, "--version", 0, "--as", "json").out())
        .isEqualTo("{\"label\":1,\"text\":null}\n");
    assertThat(Cli.run("get", table, 1, "--version", 0).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("get", table, 1, "--version", 7).err()).contains("the versions are 0 to 1");
  }

  private Path npy(String name, String description, String shape, int bytes) throws IOException {
    String dictionary =
        "{'descr': '" + description + "', 'fortran_order': False, 'shape': " + shape + ", }";
    int length = (10 + dictionary.length() + 1 + 63) / 64 * 64;
    byte[] header = new byte[length];
    java.util.Arrays.fill(header, (byte) ' ');
    ByteBuffer.wrap(header)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
        .putShort((short) (length - 10))
        .put(dictionary.getBytes(StandardCharsets.US_ASCII));
    header[length - 1] = '\n';
    byte[] content = new byte[bytes];
    new Random(3).nextBytes(content);
    return Files.write(directory.resolve(name), concat(header, content));
  }

  private static byte[] concat(byte[] first, byte[] second) {
    byte[] all = java.util.Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, all, first.length, second.length);
    return all;
  }
}
