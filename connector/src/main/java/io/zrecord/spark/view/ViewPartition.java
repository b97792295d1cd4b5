package io.zrecord.spark.view;

import io.zrecord.inspect.ShardInspection;
import io.zrecord.inspect.TableHistory;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.types.StructType;

/** The part of a view that one task reads. */
sealed interface ViewPartition extends InputPartition {

  /**
   * Returns the rows, which are made one after the other as they are taken.
   *
   * @param schema the fields of the version
   */
  Stream<InternalRow> rows(ViewName view, StructType columns, RecordSchema schema);

  /** The fields of shards. They travel with the readers, once for all tasks. */
  enum Fields {
    /** The fields of the viewed version. */
    OF_DATASET,
    /** The fields of index maps. */
    OF_INDEX_MAPS
  }

  /**
   * Consecutive shards.
   *
   * @param location location of the dataset
   * @param fields fields of the shards
   * @param shards shards, without the sizes that planners need
   * @param firstIndex index of the first record of the shards
   * @param isStore whether the dataset is a snapshot of a store, whose files are at its root
   */
  record OfShards(
      TableLocation location,
      Fields fields,
      List<ShardSummary> shards,
      long firstIndex,
      boolean isStore)
      implements ViewPartition {

    @Override
    public Stream<InternalRow> rows(ViewName view, StructType columns, RecordSchema schema) {
      return switch (view) {
        case CHUNKS ->
          inspections(schema)
              .flatMap(shard -> shard.usage().chunks().stream())
              .map(ViewRows.CHUNKS.rows(columns));
        case SHARDS ->
          inspections(schema).map(ShardInspection::usage).map(ViewRows.SHARDS.rows(columns));
        case FIELDS ->
          inspections(schema)
              .map(ShardInspection::usage)
              .flatMap(shard ->
                  shard.fields().stream().map(field -> new ViewRows.FieldOfShard(shard, field)))
              .map(ViewRows.FIELDS.rows(columns));
        case FILES ->
          inspections(schema)
              .flatMap(shard -> shard.files().stream())
              .map(ViewRows.FILES.rows(columns));
        case VERSIONS -> throw new IllegalArgumentException("Shards have no versions");
      };
    }

    private Stream<ShardInspection> inspections(RecordSchema schema) {
      RecordSchema known = fields == Fields.OF_DATASET ? schema : IndexMap.SCHEMA;
      Storage storage = location.storage();
      List<ShardInspection> inspections = new ArrayList<>();
      long first = firstIndex;
      for (ShardSummary shard : shards) {
        ShardInspection inspection = ShardInspection.of(storage, known, shard, first);
        inspections.add(isStore ? inspection.atRoot() : inspection);
        first += shard.length();
      }
      return inspections.stream();
    }
  }

  /** Versions of a table. */
  record OfVersions(TableLocation location, List<Long> versions) implements ViewPartition {

    @Override
    public Stream<InternalRow> rows(ViewName view, StructType columns, RecordSchema schema) {
      TableHistory history = TableHistory.of(location.storage());
      return view == ViewName.FILES
          ? versions.stream()
              .flatMap(version -> history.files(version).stream())
              .map(ViewRows.FILES.rows(columns))
          : versions.stream()
              .map(history::find)
              .flatMap(Optional::stream)
              .map(ViewRows.VERSIONS.rows(columns));
    }
  }
}
