package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueRange;
import java.io.Serializable;
import java.util.List;

/**
 * A condition on values of records, which the statistics of a shard can refute for whole blocks of
 * records. Immutable.
 */
sealed interface ValueCondition extends Serializable {
  /**
   * Returns the records of a dataset for which the condition may hold. Opens tables of shards, and
   * reads no value.
   */
  IndexSet mayHold(RecordDataset dataset);

  /** Holds for records whose value of a field is within one of some ranges. */
  record Within(String field, List<ValueRange> ranges) implements ValueCondition {
    @Override
    public IndexSet mayHold(RecordDataset dataset) {
      return dataset.indicesThatMayHave(field, ranges.toArray(ValueRange[]::new));
    }
  }

  /** Holds for records for which both conditions hold. */
  record Both(ValueCondition left, ValueCondition right) implements ValueCondition {
    @Override
    public IndexSet mayHold(RecordDataset dataset) {
      return left.mayHold(dataset).intersect(right.mayHold(dataset));
    }
  }

  /** Holds for records for which one of the conditions holds, or both. */
  record Either(ValueCondition left, ValueCondition right) implements ValueCondition {
    @Override
    public IndexSet mayHold(RecordDataset dataset) {
      return left.mayHold(dataset).union(right.mayHold(dataset));
    }
  }
}
