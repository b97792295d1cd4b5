package io.zrecord.spark.scan;

import io.zrecord.scan.ScanPlan;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.partition.PartitionValues;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.read.HasPartitionKey;
import org.apache.spark.sql.connector.read.InputPartition;
import org.jspecify.annotations.Nullable;

/**
 * The part of a scan that one task reads, with the values of the partition fields that all of its
 * records have.
 */
record KeyedInputPartition(ZRecordInputPartition part, InternalRow partitionKey)
    implements HasPartitionKey {

  /** Returns a part of a scan, divided where the partition of the table changes. */
  static List<InputPartition> divided(List<FieldSpec> fields, ZRecordInputPartition part) {
    List<InputPartition> divided = new ArrayList<>();
    List<ScanPlan.ShardSlice> slices = new ArrayList<>();
    for (ScanPlan.ShardSlice slice : part.slices()) {
      if (!slices.isEmpty()
          && !slices.get(0).shard().partition().equals(slice.shard().partition())) {
        divided.add(of(fields, part, slices));
        slices = new ArrayList<>();
      }
      slices.add(slice);
    }
    divided.add(of(fields, part, slices));
    return divided;
  }

  private static KeyedInputPartition of(
      List<FieldSpec> fields, ZRecordInputPartition part, List<ScanPlan.ShardSlice> slices) {
    List<@Nullable String> texts = slices.get(0).shard().partition();
    @Nullable Object[] key = new Object[fields.size()];
    for (int i = 0; i < key.length; i++) {
      FieldSpec field = fields.get(i);
      key[i] = PartitionValues.internal(field, PartitionValues.of(field, texts.get(i)));
    }
    return new KeyedInputPartition(part.of(slices), new GenericInternalRow(key));
  }
}
