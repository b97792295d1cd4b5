package io.zrecord.spark.write;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.partition.PartitionColumns;
import io.zrecord.spark.partition.PartitionValues;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableChangeBuilder;
import io.zrecord.table.TableSnapshot;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * How a write divides records by partitions. Immutable.
 *
 * @param fields the partition fields after the write; none if the table has no partitions
 */
record PartitionPlan(List<FieldSpec> fields) {
  PartitionPlan {
    fields = List.copyOf(fields);
  }

  /**
   * Plans a write. An overwrite keeps the partitions by the names of their fields.
   *
   * @param after the fields of the table after the write
   * @throws SchemaMismatchException if the table would lack a partition field, or a field cannot be
   *     one
   */
  static PartitionPlan of(
      String location, WriteTarget target, RecordSchema after, boolean isCaseSensitive) {
    return new PartitionPlan(
        target.isCreated()
            ? target.partitions().fields(location, after, isCaseSensitive)
            : kept(location, target, after));
  }

  private static List<FieldSpec> kept(String location, WriteTarget target, RecordSchema after) {
    List<FieldSpec> kept = target.base().map(DatasetVersion::partitionFields).orElse(List.of());
    for (FieldSpec field : kept) {
      if (after.find(field.name()).isEmpty()) {
        throw new SchemaMismatchException(
            location,
            "Cannot overwrite " + location + " with the columns "
                + after.fields().stream().map(FieldSpec::name).toList()
                + ": the table is partitioned by '" + field.name()
                + "', which is not among them; add the column, or replace the table, as CREATE OR"
                + " REPLACE TABLE and writeTo(…).createOrReplace() do");
      }
    }
    return PartitionColumns.of(kept).fields(location, after, true);
  }

  List<Integer> fieldIds() {
    return fields.stream().map(FieldSpec::id).toList();
  }

  /**
   * Returns the places of the partition fields.
   *
   * @param written the fields that tasks write, the partition fields among them
   */
  List<Integer> ordinals(List<FieldSpec> written) {
    return fields.stream()
        .map(field -> IntStream.range(0, written.size())
            .filter(i -> written.get(i).id() == field.id())
            .findFirst()
            .orElseThrow())
        .toList();
  }

  /**
   * Returns shards in the order of their partitions, whichever tasks have met which of them. Shards
   * of one partition stay in their order.
   */
  List<ShardSummary> inOrder(List<ShardSummary> shards) {
    return PartitionValues.sorted(fields, shards, ShardSummary::partition);
  }

  /**
   * Begins the change of a write that replaces partitions; an append if no shard comes or goes.
   *
   * @param after the fields of the table after the write, which are those of the base
   * @param written the shards of the write
   */
  TableChangeBuilder replacing(
      TableSnapshot base, Replaced replaced, RecordSchema after, List<ShardSummary> written) {
    Predicate<List<@Nullable String>> filter = replaced.partitions(fields, written);
    Map<List<@Nullable String>, Boolean> known = new HashMap<>();
    base.loadShards(IndexSet.range(0, base.length()));
    List<TableChange.Replacement> removed = base.shards().stream()
        .filter(shard -> known.computeIfAbsent(shard.partition(), filter::test))
        .map(shard -> new TableChange.Replacement(List.of(shard), List.of()))
        .toList();
    if (removed.isEmpty() && written.isEmpty()) {
      return TableChange.of(TableChange.Kind.APPEND, after);
    }
    return TableChange.of(
            TableChange.Kind.MERGE, written.isEmpty() ? new RecordSchema(List.of()) : after)
        .replacements(removed)
        .replacingPartitions(filter)
        .isolation(base.isolation());
  }
}
