package io.zrecord.internal.shard.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Compares the field of a patch with the field of the dataset. */
final class PatchFileTest {
  @TempDir
  Path directory;

  private PatchFile patchOf(RecordSchema schema, String field, Object before, Object after) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set(field, before).endRecord();
      writer.commit();
    }
    Storage storage = LocalStorage.at(directory);
    RowChange change = RowChange.of(RecordTable.at(storage).latest());
    change.update(0, field, after);
    change.commit();
    ShardSummary shard = RecordTable.at(storage).latest().shards().get(0);
    return PatchFile.open(storage, shard, Objects.requireNonNull(shard.patch()));
  }

  @Test
  void theShapeIsComparedAgainAfterTheFieldWasRead() {
    RecordSchema schema = RecordSchema.builder().field("score", ElementType.F32).build();
    PatchFile patch = patchOf(schema, "score", 1f, 2f);
    FieldSpec scalar = schema.fields().get(0);
    FieldSpec pair = new FieldSpec(
        scalar.id(), "score", ElementType.F32, new Shape(List.of(2)), Compression.RAW);
    assertThatThrownBy(() -> patch.changed(pair)).isInstanceOf(CorruptDataException.class);
    assertThat(patch.changed(scalar)).isNotNull();
    assertThatThrownBy(() -> patch.changed(pair))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("shape");
  }
}
