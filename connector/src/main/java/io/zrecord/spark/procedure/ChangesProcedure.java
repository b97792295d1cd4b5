package io.zrecord.spark.procedure;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.sql.Timestamp;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/** Counts what versions changed. Reads nothing of records that did not change. */
final class ChangesProcedure implements SystemProcedure {
  @Override
  public String name() {
    return "changes";
  }

  @Override
  public String description() {
    return "Counts the records that versions of a table inserted, deleted and changed.";
  }

  @Override
  public List<Parameter> parameters() {
    return List.of(
        Parameter.TABLE,
        Parameter.optional(
            "from_version",
            DataTypes.LongType,
            "version before the first one that is told; the one before to_version if NULL"),
        Parameter.optional(
            "to_version", DataTypes.LongType, "last version that is told; the newest if NULL"));
  }

  @Override
  public StructType columns() {
    return new StructType()
        .add("version", DataTypes.LongType, false)
        .add("committed_at", DataTypes.TimestampType, false)
        .add("operation", DataTypes.StringType, false)
        .add("inserted", DataTypes.LongType, false)
        .add("deleted", DataTypes.LongType, false)
        .add("changed", DataTypes.LongType, false)
        .add("moved", DataTypes.LongType, false)
        .add(
            "changed_by_field",
            DataTypes.createMapType(DataTypes.StringType, DataTypes.LongType, false),
            false);
  }

  @Override
  public List<Object[]> run(Arguments arguments) {
    Storage storage = arguments.storage();
    long to = arguments
        .optionalLong("to_version")
        .orElseGet(() -> RecordTable.at(storage).latest().version());
    long from = arguments.optionalLong("from_version").orElse(to - 1);
    return TableChanges.of(storage)
        .between(from, to)
        .map(version -> row(storage, version))
        .toList();
  }

  private static Object[] row(Storage storage, VersionChanges version) {
    long inserted = 0;
    long deleted = 0;
    long changed = 0;
    Map<Integer, Long> byId = new TreeMap<>();
    for (RecordChanges records : version.read(storage)) {
      inserted += records.inserted().count();
      deleted += records.deleted().count();
      changed += records.changedBefore().count();
      records.fields().forEach((id, indices) -> byId.merge(id, indices.count(), Long::sum));
    }
    return new Object[] {
      version.version(),
      Timestamp.from(version.timestamp()),
      version.operation(),
      inserted,
      deleted,
      changed,
      (long) version.moves(storage).count(),
      byName(storage, version.version(), byId)
    };
  }

  private static Map<String, Long> byName(Storage storage, long version, Map<Integer, Long> byId) {
    if (byId.isEmpty()) {
      return Map.of();
    }
    RecordSchema schema = RecordTable.at(storage).version(version).schema();
    Map<String, Long> byName = new LinkedHashMap<>();
    byId.forEach((id, count) ->
        byName.put(schema.find(id).map(FieldSpec::name).orElse("field " + id), count));
    return byName;
  }
}
