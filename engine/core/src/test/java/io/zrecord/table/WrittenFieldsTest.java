package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A shard that was written with one schema is not committed with another. */
final class WrittenFieldsTest {
  private static final FieldSpec X = field(1, "x", ElementType.I64, Shape.scalar());
  private static final FieldSpec Y = field(2, "y", ElementType.I32, Shape.of(2));

  private final MemoryStorage storage = new MemoryStorage();

  private static FieldSpec field(int id, String name, ElementType type, Shape shape) {
    return new FieldSpec(id, name, type, shape, Compression.RAW);
  }

  private ShardSummary shard(RecordSchema schema) {
    try (ShardWriter writer = ShardWriter.create(storage, schema, WriteOptions.defaults())) {
      writer.put(0, new byte[8], 0, 8);
      writer.put(1, new byte[8], 0, 8);
      writer.endRecord();
      return writer.finish().orElseThrow();
    }
  }

  /** Sends a shard to its driver, as a task does. */
  private static ShardSummary sent(ShardSummary shard) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(shard);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      return (ShardSummary) in.readObject();
    }
  }

  private void commit(RecordSchema schema, ShardSummary shard) {
    RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.APPEND, schema)
            .shards(List.of(shard))
            .build());
  }

  @Test
  void aShardThatWasWrittenWithOtherFieldsIsRefused() throws Exception {
    ShardSummary shard = sent(shard(new RecordSchema(List.of(X, Y))));
    List<RecordSchema> others = List.of(
        // The values of the fields would be swapped.
        new RecordSchema(List.of(
            field(1, "y", ElementType.I32, Shape.of(2)),
            field(2, "x", ElementType.I64, Shape.scalar()))),
        new RecordSchema(List.of(field(1, "x", ElementType.F64, Shape.scalar()), Y)),
        new RecordSchema(List.of(X, field(2, "y", ElementType.I32, Shape.of(2, 1)))),
        new RecordSchema(List.of(X)));
    for (RecordSchema other : others) {
      assertThatThrownBy(() -> commit(other, shard))
          .isInstanceOf(SchemaMismatchException.class)
          .hasMessageContaining(shard.id().toString())
          .hasMessageContaining("written with other fields");
    }
    assertThat(RecordTable.at(storage).find()).isEmpty();
  }

  @Test
  void namesOrderAndFurtherFieldsDoNotCount() throws Exception {
    ShardSummary shard = sent(shard(new RecordSchema(List.of(X, Y))));
    commit(
        new RecordSchema(List.of(
            field(2, "renamed", ElementType.I32, Shape.of(2)),
            X,
            field(3, "added", ElementType.UTF8, Shape.scalar()))),
        shard);
    assertThat(RecordTable.at(storage).latest().length()).isEqualTo(1);
  }

  @Test
  void theDigestIsNoPartOfTheIdentityOfAShard() {
    ShardSummary written = shard(new RecordSchema(List.of(X, Y)));
    commit(new RecordSchema(List.of(X, Y)), written);
    ShardSummary read = RecordTable.at(storage).latest().shards().get(0);
    assertThat(written.tables().get(0).writtenFields()).isNotZero();
    assertThat(read.tables().get(0).writtenFields()).isZero();
    assertThat(read).isEqualTo(written).hasSameHashCodeAs(written);
  }
}
