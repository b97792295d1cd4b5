package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.util.ArrayList;
import java.util.List;

/** Writes and reads a small table. Stateless. */
final class TableCheck {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.BYTES).build();

  private TableCheck() {}

  /** Fails unless a storage without files keeps a table of two versions. */
  static void writeAndRead(Storage storage) {
    append(RecordDatasetWriter.create(storage, SCHEMA, WriteOptions.defaults()), 0, 1000);
    requireRecords(storage, 1000);
    append(RecordDatasetWriter.append(storage, SCHEMA, WriteOptions.defaults()), 1000, 1500);
    requireRecords(storage, 1500);
    assertThat(RecordTable.at(storage).versions()).containsExactly(0L, 1L);
    List<String> findings = new ArrayList<>();
    DatasetCheck.of(storage).allVersions().run(finding -> findings.add(finding.toString()));
    assertThat(findings).isEmpty();
  }

  private static void append(RecordDatasetWriter writer, int from, int to) {
    try (writer) {
      RecordAppender records = writer.newAppender();
      for (int i = from; i < to; i++) {
        records.set("value", new byte[i]).endRecord();
      }
      writer.commit();
    }
  }

  private static void requireRecords(Storage storage, int count) {
    try (RecordDataset dataset = RecordDataset.open(storage, ReadOptions.defaults())) {
      assertThat(dataset.length()).isEqualTo(count);
      var reader = dataset.reader("value");
      reader.select(new long[] {count - 1, 7}, 0, 2);
      assertThat(reader.value(0)).hasSize(count - 1);
      assertThat(reader.value(1)).hasSize(7);
    }
  }
}
