package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.write.PartitionText;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Requires that the shards of a change have one value of each partition field of the table. */
final class PartitionRules {
  private final String location;
  private final RecordSchema schema;
  private final List<Integer> partitions;

  PartitionRules(String location, RecordSchema schema, List<Integer> partitions) {
    this.location = location;
    this.schema = schema;
    this.partitions = partitions;
  }

  /**
   * Requires that a change fits.
   *
   * @throws SchemaMismatchException if a partition field is none, a shard is of no partition, or
   *     the shards were written for other partition fields
   */
  void require(TableChange change) {
    requireSame(change.partitions());
    if (partitions.isEmpty() && change.newShards().stream().allMatch(this::hasValues)) {
      return;
    }
    if (partitions.stream().distinct().count() != partitions.size()) {
      throw refused("it is partitioned by a field twice");
    }
    List<FieldSpec> fields = partitions.stream().map(this::field).toList();
    if (change.kind() == TableChange.Kind.RELAYOUT) {
      throw refused("it is partitioned, so that its records cannot be put into any order");
    }
    change.newShards().forEach(shard -> requireValues(shard, fields));
    for (TableChange.Replacement run : change.replacements()) {
      List<@Nullable String> partition = run.removed().get(0).partition();
      if (!run.removed().stream().allMatch(shard -> shard.partition().equals(partition))
          || !run.added().stream().allMatch(shard -> shard.partition().equals(partition))) {
        throw refused("shards of different partitions would replace each other");
      }
    }
  }

  /** Shards have values but not their fields, so as many values of other fields look the same. */
  private void requireSame(List<Integer> ofChange) {
    if (!ofChange.isEmpty() && !ofChange.equals(partitions)) {
      throw refused("its shards are of partitions by " + names(ofChange) + ", but the table "
          + (partitions.isEmpty() ? "has no partitions" : "is partitioned by " + names(partitions))
          + "; write the records again for the newest version");
    }
  }

  private List<String> names(List<Integer> ids) {
    return ids.stream()
        .map(id -> schema.find(id).map(FieldSpec::name).orElse("field " + id))
        .toList();
  }

  private boolean hasValues(ShardSummary shard) {
    return shard.partition().size() == partitions.size();
  }

  private FieldSpec field(int id) {
    return schema
        .find(id)
        .filter(PartitionText::isAllowed)
        .orElseThrow(() -> refused("field " + id + " cannot be a partition field; a single"
            + " integer, bool, decimal, date, timestamp or string of the table can"));
  }

  private void requireValues(ShardSummary shard, List<FieldSpec> fields) {
    if (!hasValues(shard)) {
      throw refused("shard " + shard.id() + " has " + shard.partition().size()
          + " partition values, but the table is partitioned by "
          + fields.stream().map(FieldSpec::name).toList()
          + "; write each shard for one partition");
    }
    for (int i = 0; i < fields.size(); i++) {
      String text = shard.partition().get(i);
      try {
        if (text != null) {
          PartitionText.parse(fields.get(i), text);
        }
      } catch (IllegalArgumentException e) {
        throw refused("shard " + shard.id() + ": " + e.getMessage());
      }
    }
  }

  private SchemaMismatchException refused(String reason) {
    return new SchemaMismatchException(location, "Cannot commit to " + location + ": " + reason);
  }
}
