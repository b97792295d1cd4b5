package io.zrecord.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that prints what versions changed. */
final class ChangesCommandTest {
  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("text", ElementType.UTF8)
        .build();
    for (int first = 0; first < 6; first += 3) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(table.toString(), schema, WriteOptions.defaults())) {
        RecordAppender records = writer.newAppender();
        for (int i = first; i < first + 3; i++) {
          records.set("label", i).set("text", "text " + i).endRecord();
        }
        writer.commit();
      }
    }
    Cli.run("delete", table, 1);
    Cli.run("update", table, 0, 3, "--set", "label=70");
    Cli.run("rebalance", table, "--all");
    Cli.run("update", table, 3, "--absent", "text");
  }

  @Test
  void versionsAreCounted() {
    Cli.Said said = Cli.run("changes", table, "--from", -1, "--to", 5);
    assertThat(said.exitCode()).isZero();
    assertThat(said.out().replaceAll(", 20[^)]*\\)", ")").lines())
        .containsExactly(
            "version 0 (append): 3 inserted, 0 deleted, 0 changed",
            "version 1 (append): 3 inserted, 0 deleted, 0 changed",
            "version 2 (delete): 0 inserted, 1 deleted, 0 changed",
            "version 3 (update): 0 inserted, 0 deleted, 2 changed",
            "  label: 2",
            "version 4 (rebalance): 0 inserted, 0 deleted, 0 changed",
            "version 5 (update): 0 inserted, 0 deleted, 1 changed",
            "  text: 1");
  }

  private static void put(ShardWriter writer, int label, String kind) {
    writer.putInt(0, label);
    writer.put(1, kind.getBytes(UTF_8), 0, kind.length());
    writer.endRecord();
  }

  @Test
  void aRecordThatWasMovedToAnotherPartitionHasBothIndices() {
    Path path = directory.resolve("partitioned");
    Storage storage = LocalStorage.at(path);
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("kind", ElementType.UTF8)
        .build();
    List<Integer> partitions = List.of(2);
    ShardSummary cats;
    try (ShardWriter writer = ShardWriter.create(
        storage, UUID.randomUUID(), schema, WriteOptions.defaults(), partitions, List.of("cat"))) {
      put(writer, 7, "cat");
      put(writer, 8, "cat");
      cats = writer.finish().orElseThrow();
    }
    RecordTable records = RecordTable.at(storage);
    TableSnapshot base = records.commit(TableChange.of(TableChange.Kind.CREATE, schema)
        .shards(List.of(cats))
        .build()
        .partitionedBy(partitions));
    MergeChange merge = MergeChange.of(base);
    try (ShardWriter writer = ShardWriter.create(
            storage,
            UUID.randomUUID(),
            schema,
            WriteOptions.defaults(),
            partitions,
            List.of("dog"));
        ShardChangeWriter changes =
            ShardChangeWriter.open(storage, ChangeBase.of(base), cats, Set.of())) {
      writer.movedFrom(cats.id(), changes.slotOf(0));
      changes.delete(0);
      put(writer, 7, "dog");
      merge.change(changes.finish()).adding(List.of(writer.finish().orElseThrow()));
    }
    merge.commit();
    assertThat(Cli.run("changes", path).lines().get(1))
        .isEqualTo("  1 of the deleted ones were inserted in another partition");
    assertThat(Cli.run("changes", path, "--json").lines())
        .containsExactly(
            "{\"version\":1,\"change\":\"delete\",\"index\":0,\"before\":{\"label\":7,\"kind\":\"cat\"}}",
            "{\"version\":1,\"change\":\"insert\",\"index\":1,\"indexBefore\":0,\"after\":{\"label\":7,\"kind\":\"dog\"}}");
  }

  @Test
  void recordsArePrintedWithTheirValues() {
    assertThat(Cli.run("changes", table, "--from", 0, "--to", 5, "--json").lines())
        .containsExactly(
            "{\"version\":1,\"change\":\"insert\",\"index\":3,\"after\":{\"label\":3,\"text\":\"text 3\"}}",
            "{\"version\":1,\"change\":\"insert\",\"index\":4,\"after\":{\"label\":4,\"text\":\"text 4\"}}",
            "{\"version\":1,\"change\":\"insert\",\"index\":5,\"after\":{\"label\":5,\"text\":\"text 5\"}}",
            "{\"version\":2,\"change\":\"delete\",\"index\":1,\"before\":{\"label\":1,\"text\":\"text 1\"}}",
            "{\"version\":3,\"change\":\"update\",\"index\":0,\"indexBefore\":0,\"before\":{\"label\":0},\"after\":{\"label\":70}}",
            "{\"version\":3,\"change\":\"update\",\"index\":3,\"indexBefore\":3,\"before\":{\"label\":4},\"after\":{\"label\":70}}",
            "{\"version\":5,\"change\":\"update\",\"index\":3,\"indexBefore\":3,\"before\":{\"text\":\"text 4\"},\"after\":{\"text\":null}}");
  }

  @Test
  void theDifferenceOfTwoVersionsHasEachRecordOnce() {
    assertThat(Cli.run("changes", table, "--from", 0, "--to", 5, "--net").lines())
        .containsExactly("version 0 to version 5: 3 inserted, 1 deleted, 1 changed", "  label: 1");
    assertThat(
            Cli.run("changes", table, "--from", 0, "--to", 5, "--net", "--json").lines())
        .containsExactly(
            "{\"version\":5,\"versionBefore\":0,\"change\":\"delete\",\"index\":1,\"before\":{\"label\":1,\"text\":\"text 1\"}}",
            "{\"version\":5,\"versionBefore\":0,\"change\":\"update\",\"index\":0,\"indexBefore\":0,\"before\":{\"label\":0},\"after\":{\"label\":70}}",
            "{\"version\":5,\"versionBefore\":0,\"change\":\"insert\",\"index\":2,\"after\":{\"label\":3,\"text\":\"text 3\"}}",
            "{\"version\":5,\"versionBefore\":0,\"change\":\"insert\",\"index\":3,\"after\":{\"label\":70,\"text\":null}}",
            "{\"version\":5,\"versionBefore\":0,\"change\":\"insert\",\"index\":4,\"after\":{\"label\":5,\"text\":\"text 5\"}}");
    assertThat(Cli.run("changes", table, "--from", -1, "--to", 5, "--net", "--json")
            .lines())
        .hasSize(5)
        .allMatch(line -> line.contains("insert"));
  }

  @Test
  void whatCannotBeFollowedPrintsNothing() {
    assertThat(Cli.run("rebalance", table, "--shuffle", 1, "--change-indices").exitCode())
        .isZero();
    Cli.Said said = Cli.run("changes", table, "--from", 4, "--net");
    assertThat(said.exitCode()).isNotZero();
    assertThat(said.out()).isEmpty();
    assertThat(said.err()).contains("version 6");
  }

  @Test
  void withoutOptionsTheNewestVersionIsTold() {
    assertThat(Cli.run("changes", table).lines()).hasSize(2);
    assertThat(Cli.run("changes", table, "--to", 0, "--json").lines()).hasSize(3);
  }

  @Test
  void whatIsNotThereIsRefused() {
    assertThat(Cli.run("changes", table, "--to", 9).exitCode()).isNotZero();
    assertThat(Cli.run("changes", table, "--from", 3, "--to", 2).exitCode()).isNotZero();
    assertThat(Cli.run("changes").exitCode()).isEqualTo(ExitCodes.USAGE);
  }
}
