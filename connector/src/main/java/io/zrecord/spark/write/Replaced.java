package io.zrecord.spark.write;

import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.scan.PartitionFilter;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The records that a write replaces by its rows. Immutable. */
sealed interface Replaced {
  Replaced NOTHING = new Nothing();
  Replaced EVERYTHING = new Everything();
  Replaced PARTITIONS_WRITTEN = new PartitionsWritten();

  /** No record: the rows are added. */
  record Nothing() implements Replaced {}

  /** All records. */
  record Everything() implements Replaced {}

  /** All records of the partitions of the rows. */
  record PartitionsWritten() implements Replaced {}

  /** All records for which the conditions are true, which partitions decide. */
  record Where(List<org.apache.spark.sql.connector.expressions.filter.Predicate> conditions)
      implements Replaced {
    public Where {
      conditions = List.copyOf(conditions);
    }
  }

  /**
   * Returns what this means for a table with these partition fields.
   *
   * @throws UnsupportedOperationException if partitions do not decide a condition
   */
  default Replaced in(String location, List<FieldSpec> partitions) {
    if (this instanceof PartitionsWritten && partitions.isEmpty()) {
      return EVERYTHING;
    }
    if (this instanceof Where where) {
      PartitionFilter.undecided(
              partitions,
              where.conditions.toArray(
                  org.apache.spark.sql.connector.expressions.filter.Predicate[]::new))
          .ifPresent(condition -> {
            throw Unsupported.operation(
                "replacing the records of " + location + " where " + condition,
                partitions.isEmpty()
                    ? "the table has no partitions: replace all records, or partition the table"
                    : "a condition may compare the partition columns "
                        + partitions.stream().map(FieldSpec::name).toList() + " with literals");
          });
    }
    return this;
  }

  /** Tells whether the write replaces some partitions, and keeps others. */
  default boolean isOfPartitions() {
    return this instanceof PartitionsWritten || this instanceof Where;
  }

  /**
   * Returns which partitions are replaced.
   *
   * @param written the shards of the write
   */
  default Predicate<List<@Nullable String>> partitions(
      List<FieldSpec> fields, List<ShardSummary> written) {
    if (this instanceof Where where) {
      return new PartitionFilter(fields, where.conditions);
    }
    Set<List<@Nullable String>> met = new HashSet<>();
    written.forEach(shard -> met.add(shard.partition()));
    return met::contains;
  }

  /** Returns what conditions replace. */
  static Replaced where(org.apache.spark.sql.connector.expressions.filter.Predicate[] conditions) {
    return new Where(Arrays.asList(conditions));
  }
}
