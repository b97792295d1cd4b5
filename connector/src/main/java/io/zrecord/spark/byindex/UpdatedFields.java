package io.zrecord.spark.byindex;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.job.ObjectBytes;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.rows.ColumnsUpdate;
import io.zrecord.spark.write.FieldPlanner;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/** Gives records that rows name other values, as one version. Stateless. */
public final class UpdatedFields {
  private UpdatedFields() {}

  /**
   * Writes the values in tasks, and commits them. Records without a row keep their values.
   *
   * @param isCaseSensitive whether names that differ by case are two
   * @throws SchemaMismatchException if a column has another type than its field, or the table is
   *     partitioned by one
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed or deleted one
   *     of the records since the version of the rows; nothing has changed
   */
  public static TableSnapshot commit(RowsByIndex rows, WriteConf conf, boolean isCaseSensitive) {
    TableSnapshot base = rows.base();
    requireNoPartitions(rows);
    new FieldPlanner(base.storage().location(), conf, isCaseSensitive, false, List.of())
        .requireFit(rows.columns(), base.schema());
    WriteTarget target =
        WriteTarget.appending(RecordTable.at(base.storage()), DatasetVersion.of(base));
    ColumnsUpdate update =
        ColumnsUpdate.plan(base.storage().location(), target, rows.columns(), conf);
    UpdateTask task = new UpdateTask(update.writers(), rows.columns().length());
    List<WriterCommitMessage> written = AddedFields.jobs(rows, "new values")
        .collect(
            () -> rows.byShard().mapPartitions(task),
            Arrays.toString(rows.columns().fieldNames()),
            result -> update.discard(List.of(message(result))))
        .stream()
        .map(UpdatedFields::message)
        .toList();
    return update.publish(written);
  }

  private static WriterCommitMessage message(byte[] result) {
    return ObjectBytes.read(result, WriterCommitMessage.class);
  }

  private static void requireNoPartitions(RowsByIndex rows) {
    for (FieldSpec field : rows.base().partitionFields()) {
      if (List.of(rows.columns().fieldNames()).contains(field.name())) {
        String location = rows.base().storage().location();
        throw new SchemaMismatchException(
            location,
            "Cannot give records of " + location + " other values of '" + field.name()
                + "' by their indices: the table is partitioned by it; use UPDATE or MERGE, which"
                + " move records");
      }
    }
  }
}
