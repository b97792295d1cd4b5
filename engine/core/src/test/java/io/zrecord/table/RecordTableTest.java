package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RecordTableTest {
  private static final FieldSpec VALUE = Shards.SCHEMA.fields().get(0);
  private static final FieldSpec SECOND =
      new FieldSpec(2, "second", ElementType.UTF8, Shape.scalar(), Compression.RAW);
  private static final OptionalLong NONE = OptionalLong.empty();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
  }

  private ShardSummary shard(long... values) {
    return Shards.write(storage, Shards.SCHEMA, values);
  }

  @Test
  void versionsStayReadable() {
    table.commit(Shards.append(NONE, shard(1, 2)));
    table.commit(Shards.append(OptionalLong.of(0), shard(3)));
    table.commit(Shards.overwrite(OptionalLong.of(1), shard(4, 5, 6, 7)));
    assertThat(table.versions()).containsExactly(0L, 1L, 2L);
    assertThat(table.version(0).length()).isEqualTo(2);
    assertThat(table.version(1).length()).isEqualTo(3);
    assertThat(table.latest().length()).isEqualTo(4);
    assertThat(table.latest().schema()).isEqualTo(Shards.SCHEMA);
    assertThat(table.latest().tableId()).isEqualTo(table.version(0).tableId());
    assertThat(table.version(1).shardOf(2)).isEqualTo(1);
    assertThat(table.version(1).firstIndex(1)).isEqualTo(2);
    assertThat(List.of(0, 1, 2))
        .extracting(v -> table.version(v).operation())
        .containsExactly("append", "append", "overwrite");
  }

  @Test
  void aCommitOfNoRecordsIsAVersion() {
    assertThat(table.commit(Shards.append(NONE)).length()).isZero();
    assertThat(table.latest().shards()).isEmpty();
    assertThat(table.latest().schema()).isEqualTo(Shards.SCHEMA);
  }

  @Test
  void whatIsNotThereIsNamed() {
    assertThat(table.exists()).isFalse();
    assertThatThrownBy(table::latest)
        .isInstanceOf(NotADatasetException.class)
        .hasMessageContaining(storage.location());
    table.commit(Shards.append(NONE));
    table.commit(Shards.append(OptionalLong.of(0)));
    assertThatThrownBy(() -> table.version(7))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("0 to 1");
    Instant first = table.version(0).timestamp();
    Instant last = table.version(1).timestamp();
    assertThatThrownBy(() -> table.asOf(first.minusMillis(1)))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining(first.toString())
        .hasMessageContaining(last.toString());
    assertThat(table.asOf(last.minusMillis(1)).version()).isZero();
    assertThat(table.asOf(last.plusSeconds(1000)).version()).isEqualTo(1);
  }

  @Test
  void anOverwriteConflictsWithWhateverCameSinceItsBase() {
    table.commit(Shards.append(NONE, shard(1)));
    table.commit(Shards.append(OptionalLong.of(0), shard(2)));
    assertThatThrownBy(() -> table.commit(Shards.overwrite(OptionalLong.of(0), shard(3))))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 0")
        .hasMessageContaining("version 1");
    assertThatThrownBy(() -> table.commit(Shards.overwrite(NONE, shard(3))))
        .isInstanceOf(CommitConflictException.class);
    assertThat(table.versions()).hasSize(2);
  }

  @Test
  void aChangeThatExpectsAVersionFollowsNoOther() {
    TableChange expecting = Shards.append(NONE, shard(1)).expecting(0);
    assertThatThrownBy(() -> table.commit(expecting))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 0 was expected to be the newest, but there is none");
    table.commit(Shards.append(NONE, shard(1)));
    TableChange first = Shards.append(OptionalLong.of(0), shard(2)).expecting(0);
    TableChange second = Shards.append(OptionalLong.of(0), shard(3)).expecting(0);
    table.requireExpected(TableChange.Kind.APPEND, 0);
    assertThat(table.commit(first).version()).isEqualTo(1);
    assertThatThrownBy(() -> table.commit(second))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("append to " + storage.location())
        .hasMessageContaining("version 0 was expected to be the newest, but version 1 is");
    assertThatThrownBy(() -> table.requireExpected(TableChange.Kind.OVERWRITE, 0))
        .isInstanceOf(CommitConflictException.class);
    // Tried again after an unknown outcome, the change finds itself.
    assertThat(table.commit(first).version()).isEqualTo(1);
    assertThat(table.versions()).hasSize(2);
  }

  /** Tags and expiries of a table are not what an overwrite would drop. */
  @Test
  void anOverwriteFollowsATagAndAnExpiry() {
    table.commit(Shards.append(NONE, shard(1)));
    table.commit(Shards.append(OptionalLong.of(0), shard(2)));
    TableSnapshot planned = table.latest();
    table.tag(0, "first");
    LaterTable.expire(storage, 1);
    table.untag("first");
    assertThat(table.commit(planned(TableChange.Kind.OVERWRITE, planned, 3)).version())
        .isEqualTo(5);
    assertThat(table.commit(Shards.overwrite(OptionalLong.of(5), shard(4))).length())
        .isOne();
    // The control: another overwrite came since.
    assertThatThrownBy(() -> table.commit(planned(TableChange.Kind.OVERWRITE, planned, 5)))
        .isInstanceOf(CommitConflictException.class);
  }

  private TableChange planned(TableChange.Kind kind, TableSnapshot base, long value) {
    return TableChange.of(kind, Shards.SCHEMA)
        .base(base)
        .shards(List.of(shard(value)))
        .build();
  }

  /** It may know nothing of its base but the number. */
  @Test
  void anOverwriteOfABaseByNumberFollowsATagAndNoAppend() {
    table.commit(Shards.append(NONE, shard(1)));
    table.tag(0, "first");
    table.tag(0, "second");
    assertThat(table.commit(Shards.overwrite(OptionalLong.of(1), shard(2))).version())
        .isEqualTo(3);
    table.commit(Shards.append(OptionalLong.of(3), shard(3)));
    table.tag(4, "third");
    assertThatThrownBy(() -> table.commit(Shards.overwrite(OptionalLong.of(3), shard(4))))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 4")
        .hasMessageContaining("version 3");
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void whoExpectsAVersionFollowsItsTagAndNoAppend() {
    table.commit(Shards.append(NONE, shard(1)));
    table.tag(0, "first");
    table.requireExpected(TableChange.Kind.APPEND, 0);
    table.requireExpected(TableChange.Kind.APPEND, 1);
    TableChange first = Shards.append(OptionalLong.of(0), shard(2)).expecting(0);
    assertThat(table.commit(first).version()).isEqualTo(2);
    for (long expected : new long[] {0, 1, 3}) {
      assertThatThrownBy(() -> table.requireExpected(TableChange.Kind.APPEND, expected))
          .isInstanceOf(CommitConflictException.class);
      TableChange second = Shards.append(OptionalLong.of(0), shard(3)).expecting(expected);
      assertThatThrownBy(() -> table.commit(second)).isInstanceOf(CommitConflictException.class);
    }
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void aRelayoutFollowsATagAndNoAppend() {
    table.commit(Shards.append(NONE, shard(1, 2, 3)));
    TableSnapshot planned = table.latest();
    table.tag(0, "first");
    table.requireNewest(planned);
    assertThat(table.commit(relayout(planned)).version()).isEqualTo(2);
    TableSnapshot second = table.latest();
    table.commit(Shards.append(OptionalLong.of(2), shard(4)));
    table.tag(3, "second");
    assertThatThrownBy(() -> table.requireNewest(second))
        .isInstanceOf(CommitConflictException.class);
    assertThatThrownBy(() -> table.commit(relayout(second)))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("not in the new order");
    assertThat(table.latest().length()).isEqualTo(4);
  }

  private TableChange relayout(TableSnapshot base) {
    ShardSummary map = Shards.write(storage, IndexMap.SCHEMA, 2, 1, 0);
    return TableChange.relayout(base, List.of(shard(3, 2, 1)), map, Map.of());
  }

  @Test
  void aTagChangesNoRecordAndTellsWhichVersionDidLast() {
    table.commit(Shards.append(NONE, shard(1)));
    TableSnapshot appended = table.latest();
    table.tag(0, "first");
    TableSnapshot tagged = table.latest();
    assertThat(tagged.version()).isEqualTo(1);
    assertThat(tagged.operation()).isEqualTo("tag");
    assertThat(tagged.shards()).isEqualTo(appended.shards());
    assertThat(tagged.recordsVersion()).isZero();
    assertThat(tagged.recordsCommitId()).isEqualTo(appended.recordsCommitId());
    table.commit(Shards.append(OptionalLong.of(1), shard(2)));
    assertThat(table.latest().recordsVersion()).isEqualTo(2);
    assertThat(table.latest().recordsCommitId()).isNotEqualTo(appended.recordsCommitId());
  }

  @Test
  void anAppendConflictsWithAnOverwriteThatCameSinceItsBase() {
    table.commit(Shards.append(NONE, shard(1)));
    table.commit(Shards.overwrite(OptionalLong.of(0), shard(2)));
    table.commit(Shards.append(OptionalLong.of(1), shard(3)));
    assertThatThrownBy(() -> table.commit(Shards.append(OptionalLong.of(0), shard(4))))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("version 1 is an overwrite")
        .hasMessageContaining("version 0");
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void appendsCommuteAndSoDoTwoThatCreate() {
    table.commit(Shards.append(NONE, shard(1)));
    table.commit(Shards.append(NONE, shard(2)));
    table.commit(Shards.append(OptionalLong.of(0), shard(3)));
    assertThat(table.latest().length()).isEqualTo(3);
  }

  @Test
  void fieldsThatTwoAppendsAddMustNotCollide() {
    table.commit(Shards.append(NONE, shard(1)));
    RecordSchema wider = new RecordSchema(List.of(VALUE, SECOND));
    OptionalLong base = OptionalLong.of(0);
    table.commit(Shards.change(TableChange.Kind.APPEND, base, wider, List.of()));
    assertThat(table.latest().nextFieldId()).isEqualTo(3);
    // An equal field and the older schema fit; another field of that number does not.
    table.commit(Shards.append(base, shard(2)));
    assertThat(table.latest().schema()).isEqualTo(wider);
    FieldSpec other = new FieldSpec(2, "other", ElementType.UTF8, Shape.scalar(), Compression.RAW);
    FieldSpec sameName =
        new FieldSpec(3, "second", ElementType.I8, Shape.scalar(), Compression.RAW);
    for (FieldSpec added : List.of(other, sameName)) {
      RecordSchema schema = new RecordSchema(List.of(VALUE, added));
      assertThatThrownBy(
              () -> table.commit(Shards.change(TableChange.Kind.APPEND, base, schema, List.of())))
          .isInstanceOf(CommitConflictException.class)
          .hasMessageContaining("'" + added.name() + "'")
          .hasMessageContaining("version 0");
    }
  }

  @Test
  void numbersOfFieldsAreNeverReused() {
    RecordSchema two = new RecordSchema(List.of(VALUE, SECOND));
    table.commit(Shards.change(TableChange.Kind.CREATE, NONE, two, List.of()));
    table.commit(Shards.overwrite(OptionalLong.of(0)));
    RecordSchema again = new RecordSchema(List.of(VALUE, SECOND));
    assertThatThrownBy(() -> table.commit(
            Shards.change(TableChange.Kind.OVERWRITE, OptionalLong.of(1), again, List.of())))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("take 3 or more");
    RecordSchema fresh = new RecordSchema(List.of(VALUE, SECOND.withId(3)));
    table.commit(Shards.change(TableChange.Kind.OVERWRITE, OptionalLong.of(1), fresh, List.of()));
    assertThat(table.latest().nextFieldId()).isEqualTo(4);
  }

  @Test
  void aTableIsCreatedOnce() {
    TableChange create =
        Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of(shard(1)));
    table.commit(create);
    assertThatThrownBy(() ->
            table.commit(Shards.change(TableChange.Kind.CREATE, NONE, Shards.SCHEMA, List.of())))
        .isInstanceOf(DatasetExistsException.class);
    // The very same change again, as after an unknown outcome, is the version that it made.
    assertThat(table.commit(create).version()).isZero();
    assertThat(table.versions()).hasSize(1);
  }

  @Test
  void whatAManifestCannotHoldIsRefusedBefore() {
    assertThatThrownBy(() -> new TableChange.Transaction("app", -1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(">= 0");
    assertThatThrownBy(() -> new TableChange.Transaction("a".repeat(2000), 1))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> TableChange.of(TableChange.Kind.APPEND, Shards.SCHEMA)
            .properties(Map.of("key", "v".repeat(1 << 21)))
            .build())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'key'");
  }

  @Test
  void aChangePlannedOnATableThatWasReplacedConflicts() {
    table.commit(Shards.append(Shards.newest(table), Shards.write(storage, Shards.SCHEMA, 1)));
    TableSnapshot old = table.latest();
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 9);
    storage.delete("manifest");
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 2, 3)));
    assertThatThrownBy(() -> table.commit(TableChange.of(TableChange.Kind.OVERWRITE, Shards.SCHEMA)
            .baseTable(old.tableId(), old.version())
            .shards(List.of(shard))
            .build()))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("another one stands there now");
    assertThat(table.latest().length()).isEqualTo(2);
  }

  @Test
  void aTransactionTakesEffectOnce() {
    for (long number : new long[] {1, 2, 2, 1, 3}) {
      Optional<TableChange.Transaction> transaction =
          Optional.of(new TableChange.Transaction("job", number));
      table.commit(TableChange.of(TableChange.Kind.APPEND, Shards.SCHEMA)
          .baseVersion(Shards.newest(table))
          .shards(List.of(shard(number)))
          .transaction(transaction)
          .properties(Map.of("run", "x"))
          .build());
    }
    assertThat(table.latest().length()).isEqualTo(3);
    assertThat(table.latest().transactions()).containsExactly(Map.entry("job", 3L));
    assertThat(table.latest().properties()).containsEntry("run", "x");
  }

  @Test
  void missingOrChangedFilesOfAShardFailTheCommit() {
    ShardSummary gone = shard(1);
    storage.delete(gone.directory());
    assertThatThrownBy(() -> table.commit(Shards.append(NONE, gone)))
        .isInstanceOf(MissingFileException.class);
    ShardSummary noChunk = shard(1);
    storage.delete(noChunk.directory() + "/" + noChunk.chunks().get(0).fileName());
    assertThatThrownBy(() -> table.commit(Shards.append(NONE, noChunk)))
        .isInstanceOf(MissingFileException.class);
    ShardSummary whole = shard(1);
    TablesRef tables = whole.tables().get(0);
    ChunkFile chunk = whole.chunks().get(0);
    for (int difference : new int[] {-1, 1}) {
      ShardSummary changed = new ShardSummary(
          whole.id(),
          1,
          whole.chunks(),
          List.of(new TablesRef(
              tables.id(),
              tables.bytes() + difference,
              tables.jsonPosition() + difference,
              tables.jsonBytes(),
              tables.jsonChecksum(),
              tables.fieldIds())),
          whole.valueBytes());
      assertThatThrownBy(() -> table.commit(Shards.append(NONE, changed)))
          .isInstanceOf(CorruptDataException.class);
    }
    ShardSummary longer = new ShardSummary(
        whole.id(),
        1,
        List.of(ChunkFile.of(chunk.id(), chunk.bytes() + 1)),
        whole.tables(),
        whole.valueBytes());
    assertThatThrownBy(() -> table.commit(Shards.append(NONE, longer)))
        .isInstanceOf(CorruptDataException.class);
    assertThat(table.exists()).isFalse();
    assertThat(storage.list("manifest")).isEmpty();
  }

  @Test
  void anAppendPlannedForANewTableDoesNotWidenOrThinOneThatCameFirst() {
    RecordSchema wider = RecordSchema.builder()
        .field("id", ElementType.I64)
        .field("extra", ElementType.I64)
        .build();
    RecordSchema narrow = RecordSchema.builder().field("id", ElementType.I64).build();
    table.commit(Shards.change(TableChange.Kind.APPEND, NONE, narrow, List.of()));
    assertThatThrownBy(
            () -> table.commit(Shards.change(TableChange.Kind.APPEND, NONE, wider, List.of())))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("extra");
    assertThat(table
            .commit(Shards.change(TableChange.Kind.APPEND, NONE, narrow, List.of()))
            .version())
        .isEqualTo(1);
  }
}
