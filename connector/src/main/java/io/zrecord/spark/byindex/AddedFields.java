package io.zrecord.spark.byindex;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.UnreadableField;
import io.zrecord.spark.job.CommitProperties;
import io.zrecord.spark.job.ObjectBytes;
import io.zrecord.spark.job.TaskJobs;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.scan.SnapshotId;
import io.zrecord.spark.write.FieldPlanner;
import io.zrecord.storage.Storage;
import io.zrecord.table.FieldChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaSparkContext;

/** Adds fields with values to the records that rows name, as one version. Stateless. */
public final class AddedFields {
  private AddedFields() {}

  /**
   * Writes the values in tasks, and commits them.
   *
   * @param isCaseSensitive whether names that differ by case are two
   * @throws io.zrecord.errors.SchemaMismatchException if the table has a field of one of the names
   * @throws io.zrecord.errors.CommitConflictException if another commit changed fields or one of
   *     the shards since the version of the rows; nothing has changed
   */
  public static TableSnapshot commit(RowsByIndex rows, WriteConf conf, boolean isCaseSensitive) {
    TableSnapshot base = rows.base();
    Storage storage = base.storage();
    base.requireWritable();
    requireOfValues(conf);
    requireNew(rows, isCaseSensitive);
    List<FieldSpec> wanted = new FieldPlanner(
            storage.location(), conf, isCaseSensitive, false, List.of())
        .create(rows.columns())
        .written();
    RecordSchema schema = base.withFields(wanted);
    RecordSchema added = new RecordSchema(
        schema.fields().subList(base.schema().fields().size(), schema.fields().size()));
    FieldsTask task =
        new FieldsTask(SnapshotId.of(base), rows.columns(), added, conf.writeOptions());
    List<WrittenFields> written = jobs(rows, "new columns")
        .collect(
            () -> rows.byShard().mapPartitions(task),
            added.fields().stream().map(FieldSpec::name).toList().toString(),
            result -> ObjectBytes.read(result, WrittenFields.class).discard(storage))
        .stream()
        .map(result -> ObjectBytes.read(result, WrittenFields.class))
        .toList();
    List<TableChange.Replacement> shards =
        written.stream().flatMap(part -> part.replacements().stream()).toList();
    try {
      TableSnapshot after = RecordTable.at(storage)
          .commit(new FieldChange(
              UUID.randomUUID(),
              FieldChange.Kind.ADD_FIELDS,
              base,
              schema,
              shards,
              CommitProperties.of(rows.spark().sparkContext())));
      Reloads.committed(storage);
      return after;
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException | IllegalArgumentException e) {
      written.forEach(part -> part.discard(storage));
      throw e;
    }
  }

  /** Refuses options that say more than how values are stored. */
  private static void requireOfValues(WriteConf conf) {
    if (conf.transaction().isPresent()
        || conf.expectedVersion().isPresent()
        || conf.mergesSchema()
        || conf.overwritesSchema()) {
      throw new IllegalArgumentException("Columns that are added take no txnAppId, expectedVersion,"
          + " mergeSchema or overwriteSchema; leave them out, also as defaults of the session");
    }
  }

  /** Refuses a column whose name differs from that of a field by case only. */
  private static void requireNew(RowsByIndex rows, boolean isCaseSensitive) {
    String location = rows.base().storage().location();
    RecordSchema schema = rows.base().schema();
    for (String name : rows.columns().fieldNames()) {
      Stream.concat(
              schema.fields().stream().map(FieldSpec::name),
              schema.unreadable().stream().map(UnreadableField::name))
          .filter(known -> isCaseSensitive ? known.equals(name) : known.equalsIgnoreCase(name))
          .findFirst()
          .ifPresent(known -> {
            throw new SchemaMismatchException(
                location,
                "Cannot add the column '" + name + "' to " + location + ": it has the column '"
                    + known + "'; give the values another name, or call update(…)");
          });
    }
  }

  static TaskJobs jobs(RowsByIndex rows, String operation) {
    return new TaskJobs(
        JavaSparkContext.fromSparkContext(rows.spark().sparkContext()),
        rows.base().storage(),
        operation,
        "nothing has changed");
  }
}
