package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that tag, expire, sweep and drop. */
final class TableCareCommandsTest {
  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void twoVersions() {
    table = directory.resolve("table");
    append();
    append();
  }

  private void append() {
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(table.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      records.set("label", 1).endRecord();
      writer.commit();
    }
  }

  @Test
  void tagsAreMadeListedAndRemoved() {
    assertThat(Cli.run("tag", table, 0, "first").exitCode()).isZero();
    assertThat(Cli.run("tags", table).out()).startsWith("first: version 0, ");
    assertThat(Cli.run("tags", table, "--json").out())
        .contains("\"name\":\"first\"", "\"version\":0");
    assertThat(Cli.run("tag", table, 7, "seventh").exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("tag", table, 1, "7").err()).contains("not allowed as a tag");
    assertThat(Cli.run("tag", table, 1, "first").exitCode()).isEqualTo(ExitCodes.FAILED);
    assertThat(Cli.run("untag", table, "first").exitCode()).isZero();
    assertThat(Cli.run("untag", table, "first").exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("tags", table).out()).isEmpty();
  }

  @Test
  void aTagIsAVersionIfItIsNew() throws IOException {
    Cli.run("tag", table, 0, "first");
    assertThat(namesIn("manifest")).hasSize(3);
    assertThat(Cli.run("tag", table, 0, "first").exitCode()).isZero();
    assertThat(Cli.run("tag", table, 1, "first").exitCode()).isEqualTo(ExitCodes.FAILED);
    assertThat(namesIn("manifest")).hasSize(3);
    assertThat(namesIn("tag")).hasSize(1);
    Cli.run("tag", table, 0, "second");
    assertThat(namesIn("manifest")).hasSize(4);
    assertThat(namesIn("tag")).as("each tag has a copy of its own").hasSize(2);
    assertThat(Cli.run("tags", table).lines()).hasSize(2);
    assertThat(Cli.run("verify", table, "--all-versions").exitCode()).isZero();
  }

  @Test
  void aTableIsRolledBackToANumberOrATag() {
    Cli.run("tag", table, 0, "first");
    assertThat(Cli.run("rollback", table, "first").lines())
        .isEqualTo(List.of("version 3 of " + table + " is as version 0, with 1 records"));
    assertThat(Cli.run("info", table).out()).contains("version 3");
    assertThat(Cli.run("rollback", table, 1).out()).contains("with 2 records");
    assertThat(Cli.run("rollback", table, 9).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("rollback", table, "none").err()).contains("first");
    assertThat(Cli.run("verify", table, "--all-versions").exitCode()).isZero();
  }

  @Test
  void youngVersionsAreNotExpired() {
    assertThat(Cli.run("expire", table).lines())
        .isEqualTo(List.of("expired 0 versions; 2 are left, 0 of them old but with a tag"));
    assertThat(Cli.run("expire", table, "--json", "--dry-run").out())
        .contains("\"dryRun\":true,\"expired\":[],\"tagged\":0,\"kept\":2");
    assertThat(Cli.run("expire", table, "--older-than", "1w").err()).contains("no time span");
    assertThat(Cli.run("expire", table, "--older-than", "59m").exitCode())
        .isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void orphansAreDeletedOnRequestWhenTheyAreOld() throws IOException {
    Path orphan = table.resolve("shard/9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
    Files.createDirectories(orphan);
    Files.writeString(orphan.resolve("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c12.tables"), "12345");
    assertThat(Cli.run("sweep", table).out())
        .isEqualTo("would delete 0 files, 0 bytes; left 1 files, 5 bytes, that are too young\n");
    age(orphan, Duration.ofHours(80));
    assertThat(Cli.run("sweep", table, "--older-than", "4d").out()).startsWith("would delete 0 ");
    assertThat(Cli.run("sweep", table, "--list").lines())
        .containsExactly(
            "shard/" + orphan.getFileName() + ": 1 files, 5 bytes",
            "would delete 1 files, 5 bytes; left 0 files, 0 bytes, that are too young");
    assertThat(orphan).exists();
    assertThat(Cli.run("sweep", table, "--delete", "--json").out())
        .contains("\"dryRun\":false,\"files\":1,\"bytes\":5,\"youngFiles\":0,\"youngBytes\":0");
    assertThat(orphan).doesNotExist();
    assertThat(Cli.run("verify", table, "--all-versions").exitCode()).isZero();
    assertThat(Cli.run("sweep", directory).exitCode()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void aTableIsDroppedWithItsVersions() throws IOException {
    Path orphan = table.resolve("shard/9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
    Files.createDirectories(orphan);
    Files.writeString(orphan.resolve("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c12.tables"), "12345");
    age(orphan, Duration.ofHours(2));
    assertThat(Cli.run("drop", table, "--dry-run").out())
        .isEqualTo("would drop 2 versions, 4 files\n");
    assertThat(Cli.run("drop", table, "--dry-run", "--json").out())
        .contains("\"dryRun\":true,\"versions\":2,\"files\":4}");
    assertThat(Cli.run("verify", table, "--all-versions").exitCode()).isZero();
    assertThat(Cli.run("drop", table, "--purge").out())
        .isEqualTo("dropped 2 versions, 4 files; deleted 1 other files, 5 bytes; left 0 that are"
            + " too young\n");
    assertThat(orphan).doesNotExist();
    assertThat(namesIn("manifest")).containsExactly("00000000000000000002.json");
    Cli.Said again = Cli.run("drop", table);
    assertThat(again.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(again.err()).contains("it was dropped");
    assertThat(Cli.run("verify", table).out()).contains("there is no table: it was dropped");
    append();
    assertThat(Cli.run("drop", table, "--json").out())
        .contains("\"dryRun\":false,\"versions\":1,\"files\":2}");
    assertThat(Cli.run("drop", directory).exitCode()).isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void verifyFindsMissingCopiesOfTags() throws IOException {
    Cli.run("tag", table, 0, "first");
    String copy = "tag/" + namesIn("tag").get(0);
    Files.delete(table.resolve(copy));
    Cli.Said said = Cli.run("verify", table);
    assertThat(said.exitCode()).isEqualTo(ExitCodes.DAMAGED);
    assertThat(said.out()).contains(copy);
  }

  @Test
  void verifyFindsMissingVersionsThatNoExpiryRemoved() throws IOException {
    String manifest = "manifest/00000000000000000000.json";
    Files.delete(table.resolve(manifest));
    Cli.Said said = Cli.run("verify", table);
    assertThat(said.exitCode()).isEqualTo(ExitCodes.DAMAGED);
    assertThat(said.out()).contains(manifest);
  }

  private List<String> namesIn(String below) throws IOException {
    try (Stream<Path> files = Files.list(table.resolve(below))) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".json"))
          .sorted()
          .toList();
    }
  }

  private static void age(Path directory, Duration age) throws IOException {
    FileTime time = FileTime.from(Instant.now().minus(age));
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.toList()) {
        Files.setLastModifiedTime(path, time);
      }
    }
  }
}
