package io.zrecord.spark;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;

/** What a write is going to publish: planned before the tasks start, completed by their shards. Lives on the driver. */
final class TableCommit {
  private final WriteTarget target;
  private final WriteConf conf;
  private final TableChange.Kind kind;
  private final FieldPlanner.Plan fields;
  private final UUID commitId = UUID.randomUUID();

  /**
   * Plans a write.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the columns do not fit the table
   */
  TableCommit(
      String location, WriteTarget target, StructType columns, WriteConf conf, boolean truncates) {
    this.target = target;
    this.conf = conf;
    this.kind = target.kind(truncates);
    boolean isCaseSensitive =
        Boolean.parseBoolean(SparkSession.active().conf().get("spark.sql.caseSensitive", "false"));
    FieldPlanner planner = new FieldPlanner(location, conf, isCaseSensitive);
    this.fields = target.base().isEmpty()
        ? planner.create(columns)
        : kind == TableChange.Kind.APPEND
            ? planner.append(columns, target.base().get())
            : planner.overwrite(columns, target.base().get());
    conf.transaction();
  }

  /** The fields that tasks write, one for each column. */
  RecordSchema writtenSchema() {
    List<FieldSpec> written = fields.written();
    return new RecordSchema(written);
  }

  WriteOptions writeOptions() {
    return conf.writeOptions();
  }

  String location() {
    return target.table().storage().location();
  }

  void publish(List<ShardSummary> shards) {
    target
        .table()
        .commit(new TableChange(
            commitId,
            kind,
            target.base().map(TableSnapshot::tableId),
            target.baseVersion(),
            fields.table(),
            shards,
            conf.transaction(),
            properties()));
  }

  /** Deletes shards that no version names. */
  void discard(List<ShardSummary> shards) {
    shards.forEach(shard -> target.table().storage().delete(shard.directory()));
  }

  private static Map<String, String> properties() {
    Map<String, String> properties = new TreeMap<>();
    SparkSession session = SparkSession.active();
    properties.put("applicationId", session.sparkContext().applicationId());
    properties.put("sparkVersion", session.version());
    return properties;
  }
}
