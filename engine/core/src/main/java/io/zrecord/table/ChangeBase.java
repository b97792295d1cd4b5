package io.zrecord.table;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.io.Serializable;
import java.util.List;
import java.util.UUID;

/**
 * Says what a task must know of a version to change its shards ({@link ShardChangeWriter}), without
 * a look at the table. A driver sends this to its tasks. Immutable.
 *
 * @param commitId the identity of the commit that made the version
 * @param schema the fields of the version
 * @param partitions ids of the fields by which the table is partitioned, which get no values
 */
public record ChangeBase(UUID commitId, RecordSchema schema, List<Integer> partitions)
    implements Serializable {

  public ChangeBase {
    partitions = List.copyOf(partitions);
  }

  /** Returns what tasks must know of a version. */
  public static ChangeBase of(TableSnapshot version) {
    return new ChangeBase(
        version.commitId(),
        version.schema(),
        version.partitionFields().stream().map(FieldSpec::id).toList());
  }
}
