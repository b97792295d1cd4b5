package io.zrecord;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.DeclarationChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** How the writers of the engine number records. */
final class IdentityWriterTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final FieldSpec ID = new FieldSpec(
          1, "id", ElementType.I64, Shape.scalar(), Compression.RAW)
      .withRules(FieldRules.NONE.withNullable(false));
  private static final FieldSpec TEXT =
      new FieldSpec(2, "text", ElementType.UTF8, Shape.scalar(), Compression.RAW);
  private static final RecordSchema SCHEMA = new RecordSchema(List.of(ID, TEXT));
  private static final RecordSchema WITHOUT_ID = new RecordSchema(List.of(TEXT));

  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  private void create(Identity identity) {
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).build());
    DeclarationChange.of(table.latest()).add(identity).commit();
  }

  private void append(RecordSchema schema, int count) {
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, schema, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < count; i++) {
        records.set("text", "t" + i).endRecord();
      }
      writer.commit();
    }
  }

  private List<Long> ids() {
    TableSnapshot latest = table.latest();
    try (RecordDataset dataset = RecordDataset.open(latest, RecordDataset.ReadOptions.defaults());
        Batch batch = dataset.gather(LongStream.range(0, latest.length()).toArray())) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < latest.length(); i++) {
        ids.add(batch.value("id", i).getLong(0));
      }
      return ids;
    }
  }

  private long next() {
    return table.latest().declarations().identity(1).orElseThrow().next();
  }

  @Test
  void recordsThatSayNothingOfTheFieldAreNumbered() {
    create(Identity.always(1, 100, -10));
    append(SCHEMA, 3);
    append(WITHOUT_ID, 2);
    long second = 100 - 10 * 1024;
    assertThat(ids()).containsExactly(100L, 90L, 80L, second, second - 10);
    assertThat(next()).isEqualTo(100 - 20 * 1024);
    // One declaration, and for each append a reservation and the append.
    assertThat(table.latest().version()).isEqualTo(5);
  }

  @Test
  void blocksBecomeLargerAndLargerSoThatLongAppendsCommitSeldom() {
    create(Identity.always(1, 1, 1));
    append(SCHEMA, 10_000);
    // 1,024 and twice, four and eight times as many are more than 10,000.
    assertThat(table.latest().version()).isEqualTo(1 + 4 + 1);
    assertThat(next()).isEqualTo(1 + 15 * 1024);
    assertThat(ids())
        .containsExactlyElementsOf(LongStream.rangeClosed(1, 10_000).boxed().toList());
  }

  @Test
  void appendersOfOneWriterShareNoNumber() {
    create(Identity.always(1, 1, 1));
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, WITHOUT_ID, OPTIONS)) {
      RecordAppender first = writer.newAppender();
      RecordAppender second = writer.newAppender();
      for (int i = 0; i < 1500; i++) {
        first.set("text", "a").endRecord();
        second.set("text", "b").endRecord();
      }
      writer.commit();
    }
    assertThat(ids()).hasSize(3000).doesNotHaveDuplicates();
  }

  @Test
  void aRecordBringsANumberOfItsOwnOnlyByDefault() {
    create(Identity.byDefault(1, 1, 1));
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      records.set("id", 70L).endRecord();
      records.set("text", "x").endRecord();
      writer.commit();
    }
    assertThat(ids()).containsExactly(70L, 1L);
    DeclarationChange.of(table.latest()).add(Identity.always(1, 5, 1)).commit();
    try (RecordDatasetWriter writer = RecordDatasetWriter.append(storage, SCHEMA, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      assertThatThrownBy(() -> records.set("id", 6L))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("Field 'id' is always generated");
      assertThatThrownBy(records::shard)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("Field 'id' has an identity");
      records.set("text", "y").endRecord();
      writer.commit();
    }
    assertThat(ids()).containsExactly(70L, 1L, 5L);
  }

  @Test
  void anOverwriteGoesOnCounting() {
    create(Identity.always(1, 1, 1));
    append(SCHEMA, 2);
    try (RecordDatasetWriter writer = RecordDatasetWriter.overwrite(storage, SCHEMA, OPTIONS)) {
      writer.newAppender().set("text", "new").endRecord();
      writer.commit();
    }
    assertThat(ids()).containsExactly(1025L);
    for (RecordSchema schema :
        List.of(WITHOUT_ID, new RecordSchema(List.of(ID.withRules(FieldRules.NONE), TEXT)))) {
      assertThatThrownBy(() -> RecordDatasetWriter.overwrite(storage, schema, OPTIONS))
          .isInstanceOf(SchemaMismatchException.class)
          .hasMessageContaining("identity");
    }
  }

  @Test
  void valuesThatAreAlwaysGeneratedAreNotChanged() {
    create(Identity.always(1, 1, 1));
    append(SCHEMA, 1);
    TableSnapshot base = table.latest();
    for (Runnable change : List.<Runnable>of(
        () -> RowChange.of(base).update(0, "id", 7L),
        () -> RecordFieldsWriter.rewrite(table, Set.of("id"), OPTIONS))) {
      assertThatThrownBy(change::run)
          .isInstanceOf(SchemaMismatchException.class)
          .hasMessageContaining("field 'id' is always generated");
    }
    DeclarationChange.of(base).add(Identity.byDefault(1, 1000, 1)).commit();
    RowChange change = RowChange.of(table.latest());
    change.update(0, "id", 7L);
    change.commit();
    assertThat(ids()).containsExactly(7L);
  }

  @Test
  void theLastNumbersAreGivenBeforeTheErrorNamesTheField() {
    create(Identity.always(1, Long.MAX_VALUE - 3000, 1));
    append(SCHEMA, 3000);
    assertThat(ids().get(2999)).isEqualTo(Long.MAX_VALUE - 1);
    assertThatThrownBy(() -> append(SCHEMA, 1))
        .isInstanceOf(ValueTooLargeException.class)
        .hasMessageContaining("field 'id'")
        .hasMessageContaining("goes on at " + Long.MAX_VALUE + " by steps of 1, and 0");
    assertThat(table.latest().length()).isEqualTo(3000);
  }

  /** Publishes some reservations, and does not say so. */
  private static final class Unclear extends ForwardingStorage {
    private int unclearCount;
    private String unread = "";

    Unclear(Storage storage, int unclearCount) {
      super(storage);
      this.unclearCount = unclearCount;
    }

    @Override
    public boolean publish(String name, byte[] content) {
      boolean isPublished = super.publish(name, content);
      if (new String(content, UTF_8).contains("\"reserve\"") && unclearCount > 0) {
        unclearCount--;
        unread = name;
        throw new CommitOutcomeUnknownException(name, "nobody knows about " + name);
      }
      return isPublished;
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      if (name.equals(unread)) {
        unread = "";
        throw new StorageException(name, "no answer");
      }
      return super.read(name, maxBytes);
    }
  }

  @Test
  void aReservationOfUnknownOutcomeIsAGapAndNotAnUnknownOutcomeOfTheWrite() {
    create(Identity.always(1, 1, 1));
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(new Unclear(storage, 1), WITHOUT_ID, OPTIONS)) {
      writer.newAppender().set("text", "x").endRecord();
      writer.commit();
    }
    assertThat(ids()).containsExactly(1025L);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(new Unclear(storage, 3), WITHOUT_ID, OPTIONS)) {
      RecordAppender records = writer.newAppender().set("text", "y");
      assertThatThrownBy(records::endRecord)
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("numbers of field 'id'")
          .hasMessageContaining("no record was committed");
      records.endRecord();
      writer.commit();
    }
    assertThat(ids()).containsExactly(1025L, 1L + 5 * 1024);
  }
}
