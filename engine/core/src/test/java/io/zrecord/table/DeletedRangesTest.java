package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.TableChange.Kind;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deletions of ranges of records, within shards and over their limits. */
class DeletedRangesTest {
  private static final int SHARDS = 4;

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** Makes a table of four shards of ten records, whose values are their indices. */
  @BeforeEach
  void create() {
    directory = directory.resolve("table");
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(Shards.write(
          storage, Shards.SCHEMA, LongStream.range(10L * i, 10L * i + 10).toArray()));
    }
    table.commit(TableChange.of(Kind.CREATE, Shards.SCHEMA).shards(shards).build());
  }

  private List<Long> values() {
    try (RecordDataset dataset =
            RecordDataset.open(table.latest(), RecordDataset.ReadOptions.defaults());
        Batch batch = dataset.gather(LongStream.range(0, dataset.length()).toArray(), "value")) {
      return IntStream.range(0, batch.count())
          .mapToObj(i -> batch.value("value", i).order(ByteOrder.LITTLE_ENDIAN).getLong(0))
          .toList();
    }
  }

  @Test
  void everyRangeIsDeletedAsItsRecordsAre() {
    TableSnapshot base = table.latest();
    long length = base.length();
    long[] bounds = {0, 5, 10, 20, 33, length};
    for (long from : bounds) {
      for (long to : LongStream.of(bounds).filter(bound -> bound >= from).toArray()) {
        RowChange change = RowChange.of(table.latest());
        change.delete(IndexSet.range(from, to).union(IndexSet.range(25, 26)));
        change.commit();
        assertThat(values())
            .as("%s to %s", from, to)
            .isEqualTo(LongStream.range(0, length)
                .filter(i -> i != 25 && (i < from || i >= to))
                .boxed()
                .toList());
        create();
      }
    }
  }

  /** A shard that goes as a whole is not opened: its files need not be there. */
  @Test
  void aShardOfWhichNothingIsLeftIsNotOpened() {
    ShardSummary gone = table.latest().shards().get(1);
    storage.delete(gone.directory());
    RowChange change = RowChange.of(table.latest());
    change.delete(IndexSet.range(5, 22));
    change.commit();
    assertThat(values())
        .isEqualTo(LongStream.range(0, 40).filter(i -> i < 5 || i >= 22).boxed().toList());
  }

  @Test
  void recordsThatAreGoneGetNoValue() {
    RowChange change = RowChange.of(table.latest());
    change.update(12, "value", 7L);
    change.delete(IndexSet.range(10, 20));
    assertThatThrownBy(() -> change.update(13, "value", 7L))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the same change deletes it");
    change.delete(13);
    change.commit();
    assertThat(values())
        .isEqualTo(
            LongStream.range(0, 40).filter(i -> i < 10 || i >= 20).boxed().toList());
  }

  @Test
  void aRangeThatTheVersionDoesNotHaveIsRefused() {
    RowChange change = RowChange.of(table.latest());
    assertThatThrownBy(() -> change.delete(IndexSet.range(35, 41)))
        .isInstanceOf(IndexOutOfBoundsException.class);
  }
}
