package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.shard.write.Patches;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.TableChange.Isolation;
import io.zrecord.table.TableChange.Kind;
import io.zrecord.table.TableChange.Replacement;
import io.zrecord.table.TableChange.Transaction;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Commits that remove, change, replace and add shards at once, beside every other commit. */
class MergeTest {
  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** Makes a table of four shards: 0 to 2, 10 to 12, 20 to 22, and 30 to 32. */
  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < 40; i += 10) {
      shards.add(shard(i, i + 1, i + 2));
    }
    table.commit(TableChange.of(Kind.CREATE, Shards.SCHEMA).shards(shards).build());
  }

  private ShardSummary shard(long... values) {
    return Shards.write(storage, Shards.SCHEMA, values);
  }

  /** Returns a shard in which a record has another value, and another record is deleted. */
  private ShardSummary patched(ShardSummary shard, long changed, long value, long... deleted) {
    SortedMap<Long, byte[]> values = new TreeMap<>();
    values.put(
        changed,
        ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array());
    return Patches.write(storage, shard, deleted, Map.of(Shards.SCHEMA.fields().get(0), values));
  }

  private TableChangeBuilder merge(TableSnapshot base) {
    return TableChange.of(Kind.MERGE, Shards.SCHEMA).base(base);
  }

  /** Changes the first shard, and adds a shard. */
  private TableChange change(Isolation isolation) {
    TableSnapshot base = table.latest();
    ShardSummary first = base.shards().get(0);
    return merge(base)
        .replacements(List.of(Replacement.ofRows(first, List.of(patched(first, 1, 100, 2)))))
        .shards(List.of(shard(101)))
        .isolation(isolation)
        .build();
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

  /** Requires that nothing is wrong. Files of refused commits are orphans, which are no fault. */
  private void requireSound() {
    assertThat(DatasetCheck.of(directory.resolve("table").toString())
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void oneVersionRemovesChangesReplacesAndAdds() {
    TableSnapshot base = table.latest();
    List<ShardSummary> shards = base.shards();
    TableSnapshot merged = table.commit(merge(base)
        .replacements(List.of(
            new Replacement(List.of(shards.get(0)), List.of()),
            Replacement.ofRows(shards.get(1), List.of(patched(shards.get(1), 0, 100, 1))),
            new Replacement(
                List.of(shards.get(2), shards.get(3)), List.of(shard(20, 21, 22, 300, 31, 32)))))
        .shards(List.of(shard(40, 41), shard(50)))
        .build());
    assertThat(merged.version()).isEqualTo(1);
    assertThat(values()).containsExactly(100L, 12L, 20L, 21L, 22L, 300L, 31L, 32L, 40L, 41L, 50L);
    assertThat(merged.operation()).isEqualTo("merge");
    assertThat(merged.properties())
        .containsEntry("addedRecords", "3")
        .containsEntry("removedRecords", "4");
    requireSound();
    assertThat(table.version(0).length()).isEqualTo(12);
  }

  @Test
  void aMergeMayOnlyAddOrOnlyReplace() {
    table.commit(merge(table.latest()).shards(List.of(shard(40))).build());
    TableSnapshot base = table.latest();
    table.commit(merge(base)
        .replacements(List.of(new Replacement(base.shards().subList(0, 4), List.of())))
        .build());
    assertThat(values()).containsExactly(40L);
    requireSound();
  }

  @Test
  void aMergeTakesEffectOnceForATransaction() {
    Optional<Transaction> once = Optional.of(new Transaction("job", 1));
    for (int i = 0; i < 2; i++) {
      table.commit(
          merge(table.latest()).shards(List.of(shard(40))).transaction(once).build());
    }
    assertThat(table.latest().version()).isEqualTo(1);
    assertThat(table.latest().length()).isEqualTo(13);
  }

  @Test
  void whatIsNoMergeIsRefused() {
    TableSnapshot base = table.latest();
    ShardSummary first = base.shards().get(0);
    assertThatThrownBy(() -> merge(base).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("a merge adds or replaces");
    assertThatThrownBy(() ->
            TableChange.of(Kind.MERGE, Shards.SCHEMA).shards(List.of(shard(1))).build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("name its base");
    assertThatThrownBy(() -> table.commit(merge(base)
            .replacements(
                List.of(Replacement.ofRows(first, List.of()), Replacement.ofRows(first, List.of())))
            .build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("replaced twice");
    assertThatThrownBy(() -> TableChange.of(Kind.APPEND, Shards.SCHEMA)
            .shards(List.of(shard(1)))
            .isolation(Isolation.SERIALIZABLE)
            .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("no isolation");
  }

  /** A commit beside a merge, and whether a merge of each isolation may follow the commit. */
  private enum Other {
    APPEND(
        true,
        false,
        test -> test.table.commit(TableChange.of(Kind.APPEND, Shards.SCHEMA)
            .base(test.table.latest())
            .shards(List.of(test.shard(40)))
            .build())),
    DELETE_ELSEWHERE(true, false, test -> {
      RowChange change = RowChange.of(test.table.latest());
      change.delete(4);
      change.commit();
    }),
    UPDATE_ELSEWHERE(true, false, test -> {
      RowChange change = RowChange.of(test.table.latest());
      change.update(4, "value", 7L);
      change.commit();
    }),
    MERGE_ELSEWHERE(true, false, test -> {
      TableSnapshot base = test.table.latest();
      test.table.commit(test.merge(base)
          .replacements(List.of(Replacement.ofRows(base.shards().get(1), List.of())))
          .shards(List.of(test.shard(40)))
          .build());
    }),
    REBALANCE_ELSEWHERE(true, true, test -> {
      TableSnapshot base = test.table.latest();
      test.table.commit(TableChange.rebalance(
          base,
          0,
          Shards.SCHEMA,
          List.of(new Replacement(
              base.shards().subList(1, 3), List.of(test.shard(10, 11, 12, 20, 21, 22)))),
          Map.of()));
    }),
    FIELDS(
        true,
        true,
        test -> test.table.addFields(
            List.of(new FieldSpec(2, "other", ElementType.I32, Shape.scalar(), Compression.RAW)))),
    REWRITE_OF_A_FIELD_ELSEWHERE(true, false, test -> {
      try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(
          test.table,
          Set.of("value"),
          WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE))) {
        RecordAppender values = writer.newAppender(1);
        for (long value : new long[] {7, 8, 9}) {
          values.set("value", value);
          values.endRecord();
        }
        writer.commit();
      }
    }),
    TAG(true, true, test -> test.table.tag(0, "kept")),
    UPDATE_OF_ANOTHER_RECORD(true, false, test -> {
      RowChange change = RowChange.of(test.table.latest());
      change.update(0, "value", 7L);
      change.commit();
    }),
    UPDATE_OF_A_RECORD(false, false, test -> {
      RowChange change = RowChange.of(test.table.latest());
      change.update(1, "value", 7L);
      change.commit();
    }),
    REBALANCE_OF_THE_SHARD(true, true, test -> {
      TableSnapshot base = test.table.latest();
      test.table.commit(TableChange.rebalance(
          base,
          0,
          Shards.SCHEMA,
          List.of(new Replacement(
              base.shards().subList(0, 2), List.of(test.shard(0, 1, 2, 10, 11, 12)))),
          Map.of()));
    }),
    OVERWRITE(
        false,
        false,
        test -> test.table.commit(TableChange.of(Kind.OVERWRITE, Shards.SCHEMA)
            .base(test.table.latest())
            .shards(List.of(test.shard(7)))
            .build()));

    private final boolean mayPrecedeSnapshot;
    private final boolean mayPrecedeSerializable;
    private final Consumer<MergeTest> commit;

    Other(boolean mayPrecedeSnapshot, boolean mayPrecedeSerializable, Consumer<MergeTest> commit) {
      this.mayPrecedeSnapshot = mayPrecedeSnapshot;
      this.mayPrecedeSerializable = mayPrecedeSerializable;
      this.commit = commit;
    }

    boolean mayPrecede(Isolation isolation) {
      return isolation == Isolation.SNAPSHOT ? mayPrecedeSnapshot : mayPrecedeSerializable;
    }
  }

  @ParameterizedTest
  @EnumSource
  void aMergeFollowsWhatItsIsolationAllows(Other other) {
    for (Isolation isolation : Isolation.values()) {
      create(isolation.name());
      TableChange merge = change(isolation);
      other.commit.accept(this);
      List<Long> before = values();
      long version = table.latest().version();
      if (other.mayPrecede(isolation)) {
        table.commit(merge);
        List<Long> expected = new ArrayList<>(before);
        expected.set(1, 100L);
        expected.remove(2);
        expected.add(101L);
        assertThat(values()).as("%s", isolation).isEqualTo(expected);
      } else {
        assertThatThrownBy(() -> table.commit(merge))
            .as("%s", isolation)
            .isInstanceOf(CommitConflictException.class)
            .hasMessageContaining("merge");
        assertThat(values()).isEqualTo(before);
        assertThat(table.latest().version()).isEqualTo(version);
      }
      requireSound();
    }
  }

  /** An append that depends on what the table holds follows what leaves its records alone. */
  @ParameterizedTest
  @EnumSource
  void aSerializableAppendFollowsWhatASerializableMergeFollows(Other other) {
    TableChange append = TableChange.of(Kind.APPEND, Shards.SCHEMA)
        .base(table.latest())
        .shards(List.of(shard(101)))
        .isolation(Isolation.SERIALIZABLE)
        .build();
    other.commit.accept(this);
    List<Long> expected = new ArrayList<>(values());
    if (other.mayPrecede(Isolation.SERIALIZABLE)) {
      table.commit(append);
      expected.add(101L);
    } else {
      assertThatThrownBy(() -> table.commit(append)).isInstanceOf(CommitConflictException.class);
    }
    assertThat(values()).isEqualTo(expected);
    requireSound();
  }

  private void create(String name) {
    directory = directory.resolve(name);
    create();
  }

  /** What was planned before a merge follows the merge as it would follow its parts. */
  @Test
  void othersFollowAMerge() {
    TableSnapshot base = table.latest();
    RowChange elsewhere = RowChange.of(base);
    elsewhere.delete(11);
    RowChange other = RowChange.of(base);
    other.delete(0);
    RowChange same = RowChange.of(base);
    same.delete(1);
    TableChange append = TableChange.of(Kind.APPEND, Shards.SCHEMA)
        .base(base)
        .shards(List.of(shard(200)))
        .build();
    TableChange overwrite = TableChange.of(Kind.OVERWRITE, Shards.SCHEMA)
        .base(base)
        .shards(List.of(shard(7)))
        .build();
    table.commit(change(Isolation.SERIALIZABLE));
    table.commit(append);
    elsewhere.commit();
    other.commit();
    assertThat(values()).containsExactly(100L, 10L, 11L, 12L, 20L, 21L, 22L, 30L, 31L, 101L, 200L);
    assertThatThrownBy(same::commit).isInstanceOf(CommitConflictException.class);
    assertThatThrownBy(() -> table.commit(overwrite)).isInstanceOf(CommitConflictException.class);
    requireSound();
  }

  /** As an append, a merge that only adds is not put after what replaced the table. */
  @Test
  void aMergeThatOnlyAddsDoesNotFollowAnOverwrite() {
    TableSnapshot base = table.latest();
    TableChange merge = merge(base).shards(List.of(shard(101))).build();
    table.commit(TableChange.of(Kind.OVERWRITE, Shards.SCHEMA)
        .base(base)
        .shards(List.of(shard(7)))
        .build());
    assertThatThrownBy(() -> table.commit(merge)).isInstanceOf(CommitConflictException.class);
    assertThat(values()).containsExactly(7L);
  }

  /** What came since may have been expired: then nothing is known of what it changed. */
  @Test
  void onlyAMergeThatAddsNothingFollowsWhatItCannotSee() {
    TableChange serializable = change(Isolation.SERIALIZABLE);
    TableChange adding = change(Isolation.SNAPSHOT);
    TableSnapshot base = table.latest();
    ShardSummary first = base.shards().get(0);
    TableChange changing = merge(base)
        .replacements(List.of(Replacement.ofRows(first, List.of(patched(first, 1, 100, 2)))))
        .build();
    for (int i = 0; i < 3; i++) {
      table.commit(TableChange.of(Kind.APPEND, Shards.SCHEMA)
          .baseVersion(OptionalLong.of(i))
          .shards(List.of(shard(40 + i)))
          .build());
    }
    RecordTable.at(storage, () -> Instant.now().plus(Duration.ofDays(1)))
        .expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
    assertThatThrownBy(() -> table.commit(serializable)).hasMessageContaining("was expired");
    assertThatThrownBy(() -> table.commit(adding)).hasMessageContaining("was expired");
    table.commit(changing);
    assertThat(values()).hasSize(14).contains(100L);
  }
}
