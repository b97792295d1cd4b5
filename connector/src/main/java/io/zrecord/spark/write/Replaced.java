package io.zrecord.spark.write;

import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.scan.PartitionFilter;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The records that a write replaces by its rows. Immutable.
 *
 * @param scope which records in general
 * @param conditions what has to be true for a record that is replaced, if conditions say so
 */
record Replaced(Scope scope, List<Predicate> conditions) {
  static final Replaced NOTHING = new Replaced(Scope.NOTHING, List.of());
  static final Replaced EVERYTHING = new Replaced(Scope.EVERYTHING, List.of());
  static final Replaced PARTITIONS_WRITTEN = new Replaced(Scope.PARTITIONS_WRITTEN, List.of());

  /** Says which records in general. */
  enum Scope {
    /** No record: the rows are added. */
    NOTHING,
    /** All records. */
    EVERYTHING,
    /** All records of the partitions of the rows. */
    PARTITIONS_WRITTEN,
    /** All records for which the conditions are true, which partitions decide. */
    WHERE
  }

  Replaced {
    conditions = List.copyOf(conditions);
  }

  /** Returns what conditions replace. */
  static Replaced where(Predicate[] conditions) {
    return new Replaced(Scope.WHERE, Arrays.asList(conditions));
  }

  /**
   * Returns what this means for a table with these partition fields.
   *
   * @throws UnsupportedOperationException if partitions do not decide a condition
   */
  Replaced in(String location, List<FieldSpec> partitions) {
    if (scope == Scope.PARTITIONS_WRITTEN && partitions.isEmpty()) {
      return EVERYTHING;
    }
    PartitionFilter.undecided(partitions, conditions).ifPresent(condition -> {
      throw Unsupported.operation(
          "replacing the records of " + location + " where " + condition,
          "partitions do not decide the condition, and zrecord's rules, which find such records,"
              + " are not in this session: set spark.sql.extensions="
              + "io.zrecord.spark.ZRecordSessionExtensions when the session is made");
    });
    return this;
  }

  /** Tells whether the write replaces some partitions, and keeps others. */
  boolean isOfPartitions() {
    return scope == Scope.PARTITIONS_WRITTEN || scope == Scope.WHERE;
  }

  /**
   * Returns which partitions are replaced.
   *
   * @param written the shards of the write
   */
  java.util.function.Predicate<List<@Nullable String>> partitions(
      List<FieldSpec> fields, List<ShardSummary> written) {
    if (scope == Scope.WHERE) {
      return new PartitionFilter(fields, conditions);
    }
    Set<List<@Nullable String>> met = new HashSet<>();
    written.forEach(shard -> met.add(shard.partition()));
    return met::contains;
  }
}
