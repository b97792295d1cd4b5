package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.read.FieldReader;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A commit deletes what tasks have written and no version names, and nothing that a version names:
 * every way to commit a change of a shard, after every history that a change may have.
 */
final class TaskFilesTest {
  private static final int RECORDS = 100;

  /** Says what comes together in the commit of a change. */
  private enum Way {
    ALONE,
    /** Another change of the shard is part of the commit. */
    JOINED,
    /** Another commit has changed the shard since. */
    CARRIED,
    JOINED_AND_CARRIED,
    /** As many changes of the shard are part of the commit as a patch has no place for. */
    WIDE;

    boolean isJoined() {
      return this == JOINED || this == JOINED_AND_CARRIED || this == WIDE;
    }

    boolean isCarried() {
      return this == CARRIED || this == JOINED_AND_CARRIED;
    }
  }

  private MemoryStorage storage;
  private RecordTable table;

  /** The values of every version. */
  private final TreeMap<Long, List<Long>> versions = new TreeMap<>();

  @BeforeEach
  void create() {
    storage = new MemoryStorage(Instant::now);
    table = RecordTable.at(storage);
    long[] values = LongStream.range(0, RECORDS).toArray();
    note(
        table.commit(
            Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, values))),
        Map.of());
  }

  private void note(TableSnapshot version, Map<Integer, Long> changed) {
    List<Long> values = versions.isEmpty()
        ? LongStream.range(0, RECORDS).boxed().toList()
        : versions.lastEntry().getValue();
    List<Long> after = new ArrayList<>(values);
    changed.forEach(after::set);
    versions.put(version.version(), after);
  }

  /** Gives a record a value, in a task. */
  private ShardChange written(TableSnapshot base, int index) {
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(base), base.shards().get(0), Set.of("value"))) {
      writer.update(index, "value", 1000L + index);
      return writer.finish();
    }
  }

  /** Commits a change of record 3, in one of the ways, planned on a version. */
  private void commit(Way way, TableSnapshot base, ShardChange change) {
    MergeChange merge = MergeChange.of(base).change(change);
    Map<Integer, Long> changed = new TreeMap<>(Map.of(3, 1003L));
    int others = way == Way.WIDE ? PatchRef.MOST_CHUNKS : way.isJoined() ? 1 : 0;
    for (int index = 10; index < 10 + others; index++) {
      merge.change(written(base, index));
      changed.put(index, 1000L + index);
    }
    if (way.isCarried()) {
      RowChange other = RowChange.of(table.latest());
      other.update(5, "value", 2005L);
      note(other.commit(), Map.of(5, 2005L));
    }
    note(merge.commit(), changed);
  }

  /** Takes all shards back to those of a version. */
  private TableSnapshot takeBack(TableSnapshot to) {
    TableSnapshot after = table.commit(TableChange.of(TableChange.Kind.OVERWRITE, Shards.SCHEMA)
        .base(table.latest())
        .shards(to.shards())
        .build());
    versions.put(after.version(), versions.get(to.version()));
    return after;
  }

  private void requireReadable() {
    versions.forEach((version, expected) -> {
      List<Long> values = new ArrayList<>();
      try (RecordDataset dataset =
          RecordDataset.open(table.version(version), ReadOptions.defaults())) {
        FieldReader reader = dataset.reader("value");
        reader.select(LongStream.range(0, RECORDS).toArray(), 0, RECORDS);
        for (int i = 0; i < RECORDS; i++) {
          values.add(
              ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
        }
      }
      assertThat(values).as("version %d", version).isEqualTo(expected);
    });
  }

  /** Returns the files of shards that versions name. */
  private Set<String> named() {
    Set<String> named = new TreeSet<>();
    for (long version : versions.keySet()) {
      for (ShardSummary shard : table.version(version).shards()) {
        shard.chunks().forEach(chunk -> named.add(shard.fileOf(chunk)));
        shard.tables().forEach(tables -> named.add(shard.fileOf(tables)));
        if (shard.patch() != null) {
          named.add(shard.fileOf(shard.patch()));
        }
      }
    }
    return named;
  }

  /** What was joined and carried is left to a sweep. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "JOINED_AND_CARRIED")
  void nothingIsLeftThatNoVersionNames(Way way) {
    TableSnapshot base = table.latest();
    commit(way, base, written(base, 3));
    requireReadable();
    Set<String> stored = new TreeSet<>(storage.names());
    stored.removeIf(name -> !name.startsWith("shard"));
    assertThat(stored).isEqualTo(named());
  }

  @ParameterizedTest
  @EnumSource
  void aChangeThatWasTakenBackAndIsCommittedAgainDeletesNothing(Way way) {
    TableSnapshot first = table.latest();
    ShardChange change = written(first, 3);
    commit(Way.ALONE, first, change);
    commit(way, takeBack(first), change);
    requireReadable();
    assertThat(storage.names()).containsAll(named());
  }

  @ParameterizedTest
  @EnumSource
  void soDoesOneThatIsPlannedOnTheSameVersionAgain(Way way) {
    TableSnapshot first = table.latest();
    ShardChange change = written(first, 3);
    commit(Way.ALONE, first, change);
    takeBack(first);
    try {
      commit(way, first, change);
    } catch (CommitConflictException e) {
      // The shard is as it was, or the record was changed by a version before.
      assertThat(way).isNotIn(Way.ALONE, Way.JOINED);
    }
    requireReadable();
    assertThat(storage.names()).containsAll(named());
  }

  /** The same changes of tasks are committed under one key, while the first attempt publishes. */
  @Test
  void theFilesOfAnAttemptThatTookEffectMeanwhileAreKept() {
    TableSnapshot first = table.latest();
    List<ShardChange> changes = List.of(written(first, 3), written(first, 4));
    TableChange.Transaction key = new TableChange.Transaction("driver", 1);
    AtomicBoolean isFirst = new AtomicBoolean(true);
    RecordTable late = RecordTable.at(new ForwardingStorage(storage) {
      @Override
      public boolean publish(String name, byte[] content) {
        if (name.equals(ManifestNames.nameOf(1)) && isFirst.getAndSet(false)) {
          // Another driver of the key commits one of the changes, whose patch is then named.
          note(
              MergeChange.of(first).change(changes.get(0)).transaction(key).commit(),
              Map.of(3, 1003L));
        }
        return super.publish(name, content);
      }
    });
    MergeChange merge = MergeChange.of(first).transaction(key);
    changes.forEach(merge::change);
    assertThat(merge.commit(late).version()).isEqualTo(1);
    assertThat(isFirst).isFalse();
    requireReadable();
    assertThat(storage.names()).containsAll(named());
  }
}
