package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.read.IndexSet;
import io.zrecord.read.ValueFinder;
import io.zrecord.read.ValueRange;
import java.io.Serializable;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A condition on values of records, which the statistics of a shard can refute for whole blocks of
 * records, and the values for single records. Immutable.
 */
sealed interface ValueCondition extends Serializable {
  /**
   * Returns the records of a dataset for which the condition may hold. Opens tables of shards, and
   * reads no value.
   */
  IndexSet mayHold(RecordDataset dataset);

  /**
   * Prepares to find, among records, those for which the condition may hold, by the values of some
   * fields. A condition on another field may hold.
   */
  ValueFinder finder(RecordDataset dataset, Set<String> searched);

  /** Returns the names of the fields that the condition is about. */
  Stream<String> fields();

  /** Holds for records whose value of a field is within one of some ranges. */
  record Within(String field, List<ValueRange> ranges) implements ValueCondition {
    @Override
    public IndexSet mayHold(RecordDataset dataset) {
      return dataset.indicesThatMayHave(field, ranges.toArray(ValueRange[]::new));
    }

    @Override
    public ValueFinder finder(RecordDataset dataset, Set<String> searched) {
      return searched.contains(field)
          ? dataset.finder(field, ranges.toArray(ValueRange[]::new))
          : records -> records;
    }

    @Override
    public Stream<String> fields() {
      return Stream.of(field);
    }
  }

  /** Holds for records for which both conditions hold. */
  record Both(ValueCondition left, ValueCondition right) implements ValueCondition {
    @Override
    public IndexSet mayHold(RecordDataset dataset) {
      return left.mayHold(dataset).intersect(right.mayHold(dataset));
    }

    @Override
    public ValueFinder finder(RecordDataset dataset, Set<String> searched) {
      ValueFinder first = left.finder(dataset, searched);
      ValueFinder second = right.finder(dataset, searched);
      return records -> second.among(first.among(records));
    }

    @Override
    public Stream<String> fields() {
      return Stream.concat(left.fields(), right.fields());
    }
  }

  /** Holds for records for which one of the conditions holds, or both. */
  record Either(ValueCondition left, ValueCondition right) implements ValueCondition {
    @Override
    public IndexSet mayHold(RecordDataset dataset) {
      return left.mayHold(dataset).union(right.mayHold(dataset));
    }

    @Override
    public ValueFinder finder(RecordDataset dataset, Set<String> searched) {
      ValueFinder first = left.finder(dataset, searched);
      ValueFinder second = right.finder(dataset, searched);
      return records -> first.among(records).union(second.among(records));
    }

    @Override
    public Stream<String> fields() {
      return Stream.concat(left.fields(), right.fields());
    }
  }
}
