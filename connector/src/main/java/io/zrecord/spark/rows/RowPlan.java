package io.zrecord.spark.rows;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.scan.SnapshotId;
import io.zrecord.spark.write.Partitioning;
import io.zrecord.spark.write.RequiredValue;
import io.zrecord.table.ChangeBase;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * What the tasks of a statement know. Immutable.
 *
 * @param version the version that the statement reads
 * @param base what tasks must know of the version to change its shards
 * @param columns the columns of the rows
 * @param fields the field of each column
 * @param assigned ordinals of the columns of which updated records get values, without those that
 *     have partition fields
 * @param compares whether only values are written that differ from those that are there
 * @param carried ordinals of the columns that the statement, or a clause of it, does not assign
 * @param generated ordinals of the columns whose values the table always generates
 * @param moves the partition fields, if updated records may get other values of them; null if all
 *     records stay in their partitions
 */
record RowPlan(
    SnapshotId version,
    ChangeBase base,
    StructType columns,
    RecordSchema fields,
    List<Integer> assigned,
    boolean compares,
    List<Integer> carried,
    List<Integer> generated,
    @Nullable Partitioning moves)
    implements Serializable {
  RowPlan {
    assigned = List.copyOf(assigned);
    carried = List.copyOf(carried);
    generated = List.copyOf(generated);
  }

  /** Tells of each column whether the table, or what declares the table, has it as NOT NULL. */
  boolean[] required() {
    RecordSchema stored = base.schema();
    boolean[] required = new boolean[columns.length()];
    for (int i = 0; i < required.length; i++) {
      FieldSpec field =
          stored.fields().get(stored.ordinal(fields.fields().get(i).name()));
      required[i] = RequiredValue.isOf(columns.apply(i), field);
    }
    return required;
  }
}
