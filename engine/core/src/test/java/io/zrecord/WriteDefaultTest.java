package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.read.FieldReader;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A write default is for records that say nothing of the field. */
final class WriteDefaultTest {
  private static final byte[] EIGHT = {8, 0, 0, 0};
  private static final byte[] NINE = {9, 0, 0, 0};
  private static final FieldRules DEFAULT = FieldRules.NONE.withWrite(EIGHT);

  @TempDir
  Path directory;

  private RecordDatasetWriter writer(FieldRules rules) {
    FieldSpec kind =
        new FieldSpec(1, "kind", ElementType.I32, Shape.scalar(), Compression.RAW).withRules(rules);
    return RecordDatasetWriter.append(
        directory.toString(), new RecordSchema(List.of(kind)), WriteOptions.defaults());
  }

  @Test
  void aNullStaysAbsentAndAMissingValueGetsTheDefault() {
    try (RecordDatasetWriter writer = writer(DEFAULT)) {
      RecordAppender records = writer.newAppender();
      records.set("kind", null).endRecord();
      records.endRecord();
      records.set("kind", 9).endRecord();
      records.set("kind", null).endRecord();
      records.endRecord();
      writer.commit();
    }
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      FieldReader reader = dataset.reader("kind");
      reader.select(new long[] {0, 1, 2, 3, 4}, 0, 5);
      assertThat(reader.isAbsent(0)).isTrue();
      assertThat(reader.value(1)).isEqualTo(EIGHT);
      assertThat(reader.value(2)).isEqualTo(NINE);
      assertThat(reader.isAbsent(3)).isTrue();
      assertThat(reader.value(4)).isEqualTo(EIGHT);
    }
  }

  @Test
  void aFieldThatIsNeverAbsentRefusesNull() {
    try (RecordDatasetWriter writer = writer(DEFAULT.withNullable(false))) {
      RecordAppender records = writer.newAppender();
      assertThatThrownBy(() -> records.set("kind", null))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("'kind' is never absent");
      records.endRecord();
      assertThat(records.recordCount()).isEqualTo(1);
    }
  }

  @Test
  void aFieldIsSetOnceInARecord() {
    try (RecordDatasetWriter writer = writer(DEFAULT)) {
      RecordAppender records = writer.newAppender();
      records.set("kind", null);
      assertThatThrownBy(() -> records.set("kind", 9)).isInstanceOf(IllegalStateException.class);
      records.endRecord();
      records.set("kind", 9);
      assertThatThrownBy(() -> records.set("kind", null)).isInstanceOf(IllegalStateException.class);
    }
  }
}
