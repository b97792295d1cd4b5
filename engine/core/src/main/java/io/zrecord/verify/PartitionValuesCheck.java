package io.zrecord.verify;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.PartitionText;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/** Checks that all records of a shard are of its partition. Belongs to one thread. */
final class PartitionValuesCheck {
  private static final int BLOCK = 1 << 12;

  private final CheckRun run;
  private final Storage storage;

  PartitionValuesCheck(CheckRun run, Storage storage) {
    this.run = run;
    this.storage = storage;
  }

  /**
   * Checks a shard, whose values can be read or are reported by another check.
   *
   * @param partitions ids of the partition fields
   * @param firstIndex index of the shard's first record
   */
  void check(ShardSummary shard, RecordSchema schema, List<Integer> partitions, long firstIndex) {
    for (int i = 0; i < partitions.size(); i++) {
      String text = shard.partition().get(i);
      Optional<FieldSpec> field = schema.find(partitions.get(i));
      try {
        if (field.isPresent()) {
          check(shard, schema, field.get(), text, firstIndex);
        }
      } catch (IllegalArgumentException e) {
        run.found(
            Kind.MANIFEST,
            storage.pathOf(shard.directory()),
            field.get().name(),
            "its shard is named with a partition value that is none: " + e.getMessage());
      } catch (ZRecordException e) {
        // Damage that the check of the shard reports.
      }
    }
  }

  private void check(
      ShardSummary shard,
      RecordSchema schema,
      FieldSpec field,
      @Nullable String text,
      long firstIndex) {
    byte[] expected = text == null ? null : PartitionText.parse(field, text);
    try (RecordDataset dataset =
        RecordDataset.openShard(storage, schema, shard, RecordDataset.ReadOptions.defaults())) {
      for (long from = 0; from < shard.length(); from += BLOCK) {
        long[] indices =
            LongStream.range(from, Math.min(shard.length(), from + BLOCK)).toArray();
        try (Batch batch = dataset.gather(indices, field.name())) {
          for (int i = 0; i < indices.length; i++) {
            boolean isAbsent = batch.isAbsent(field.name(), i);
            boolean isSame = isAbsent
                ? expected == null
                : expected != null && Arrays.equals(expected, batch.bytes(field.name(), i));
            if (!isSame) {
              run.found(new Finding(
                  Kind.VALUE,
                  storage.pathOf(shard.directory()),
                  field.name(),
                  firstIndex + indices[i],
                  1,
                  "it is not of the partition of its shard, which is "
                      + (text == null ? "that of absent values" : "'" + text + "'")));
              return;
            }
          }
        }
      }
    }
  }
}
