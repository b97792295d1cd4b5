package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.table.RecordTable;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** rebalance --order-by and --shuffle: what they refuse, print and do. */
final class RelayoutCommandTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("a:b", ElementType.I64).build();

  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (long value : new long[] {5, 3, 9}) {
        appender.set("a:b", value).endRecord();
      }
      writer.commit();
    }
  }

  private void check(long... values) {
    try (RecordDataset dataset = RecordDataset.open(table.toString());
        Batch batch = dataset.gather(new long[] {0, 1, 2})) {
      for (int i = 0; i < values.length; i++) {
        assertThat(batch.value("a:b", i).getLong(0)).isEqualTo(values[i]);
      }
    }
  }

  @Test
  void indicesChangeOnlyWhenThatIsAllowed() {
    Cli.Said refused = Cli.run("rebalance", table, "--order-by", "a:b");
    assertThat(refused.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(refused.err()).contains("index 5 names another record", "--change-indices", "map");
    check(5, 3, 9);

    Cli.Said plan = Cli.run("rebalance", table, "--order-by", "a:b", "--dry-run");
    assertThat(plan.out()).startsWith("would write 3 records by 'a:b' ascending");
    check(5, 3, 9);

    Cli.Said done =
        Cli.run("rebalance", table, "--order-by", "a:b:desc", "--change-indices", "--no-progress");
    assertThat(done.exitCode()).isZero();
    assertThat(done.out())
        .startsWith("wrote 3 records by 'a:b' descending as version 1")
        .contains("the indices of version 0 are mapped to the new ones by shard/");
    check(9, 5, 3);

    Cli.Said info = Cli.run("info", table);
    String map =
        RecordTable.at(LocalStorage.at(table)).latest().indexMap().orElseThrow().directory();
    assertThat(info.out()).contains("index map from version 0: " + map);
    assertThat(Cli.run("info", table, "--json").out()).contains("\"indexMap\":\"" + map + "\"");
    assertThat(Cli.run("get", table, "2", "0", "--index-map").lines())
        .containsExactly("record 2", "  newIndex: 0", "record 0", "  newIndex: 1");
    assertThat(Cli.run("get", table, "1", "--index-map", "--as", "json").lines())
        .containsExactly("{\"newIndex\":2}");
    assertThat(Cli.run("get", table, "3", "--index-map").err()).contains("it has 3 records");
    assertThat(Cli.run("get", table, "0", "--index-map", "--version", "0").err())
        .contains("version 0 of", "has no index map");
    assertThat(Cli.run("get", table, "0", "--index-map", "--field", "a:b").exitCode())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("verify", table, "--all-versions", "--no-progress").exitCode())
        .isZero();
  }

  @Test
  void aShuffleIsThatOfTheSeed() {
    Cli.Said done = Cli.run(
        "rebalance",
        table,
        "--shuffle=-7",
        "--change-indices",
        "--json",
        "--target-shard-bytes=1m");
    assertThat(done.out())
        .contains("\"version\":1,\"order\":\"shuffle, seed -7\",\"records\":3")
        .contains("\"indexMap\":\"shard/");
    long[] values = {5, 3, 9};
    check(LongStream.range(0, 3)
        .map(p -> values[(int) Samplers.shuffle(3, -7).index(0, p)])
        .toArray());
  }

  @Test
  void whatDoesNotFitIsRefused() {
    assertThat(Cli.run("rebalance", table, "--change-indices").err()).contains("--order-by");
    assertThat(Cli.run("rebalance", table, "--order-by=x", "--shuffle=1", "--change-indices")
            .err())
        .contains("Give one of");
    Cli.Said some = Cli.run("rebalance", table, "--shuffle=1", "--change-indices", "--indices=0-2");
    assertThat(some.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(some.err()).contains("--indices does not go with another order");
    Cli.Said field = Cli.run("rebalance", table, "--order-by=x", "--change-indices");
    assertThat(field.exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(field.err()).contains("'x'").contains("a:b");
    check(5, 3, 9);
  }

  @Test
  void aTableWithoutRecordsHasNothingToReorder() {
    String empty = directory.resolve("empty").toString();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(empty, SCHEMA, WriteOptions.defaults())) {
      writer.commit();
    }
    for (String order : new String[] {"--shuffle=1", "--order-by=a:b"}) {
      for (String how : new String[] {"--change-indices", "--dry-run"}) {
        Cli.Said said = Cli.run("rebalance", empty, order, how);
        assertThat(said.exitCode()).isEqualTo(ExitCodes.DONE);
        assertThat(said.out()).contains("nothing to put into another order", "has no records");
        assertThat(Cli.run("rebalance", empty, order, how, "--json").out())
            .startsWith("{\"version\":0,")
            .contains("\"records\":0");
      }
    }
    assertThat(RecordTable.at(LocalStorage.at(Path.of(empty))).latest().version())
        .isZero();
    assertThat(Cli.run("rebalance", empty, "--order-by=x", "--change-indices").exitCode())
        .isEqualTo(ExitCodes.USAGE);
  }

  @Test
  void aStoreIsRefused() {
    Path store = directory.resolve("store");
    try (RecordStore open = RecordStore.create(store, SCHEMA, StoreOptions.defaults())) {
      open.append(open.newValues().set("a:b", 1L));
      open.commit();
      Cli.Said said = Cli.run("rebalance", store, "--shuffle=1", "--change-indices");
      assertThat(said.exitCode()).isEqualTo(ExitCodes.USAGE);
      assertThat(said.err()).contains("is a store", "make a table of it first");
    }
  }
}
