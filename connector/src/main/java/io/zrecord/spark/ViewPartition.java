package io.zrecord.spark;

import io.zrecord.inspect.ShardInspection;
import io.zrecord.inspect.TableHistory;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.types.StructType;

/** What one task of a view looks at. */
sealed interface ViewPartition extends InputPartition {

  /** Makes the rows, one after the other while they are taken. */
  Stream<InternalRow> rows(ViewName view, StructType columns);

  /**
   * Shards that follow each other.
   *
   * @param location of the dataset
   * @param schema of the version
   * @param firstIndex of the first of their records
   * @param isStore whether the dataset is a snapshot of a store, whose files stand at its root
   */
  record OfShards(
      String location,
      RecordSchema schema,
      List<ShardSummary> shards,
      long firstIndex,
      boolean isStore)
      implements ViewPartition {

    @Override
    public Stream<InternalRow> rows(ViewName view, StructType columns) {
      return switch (view) {
        case CHUNKS ->
          inspections()
              .flatMap(shard -> shard.usage().chunks().stream())
              .map(ViewRows.CHUNKS.rows(columns));
        case SHARDS -> inspections().map(ShardInspection::usage).map(ViewRows.SHARDS.rows(columns));
        case FIELDS ->
          inspections()
              .map(ShardInspection::usage)
              .flatMap(shard ->
                  shard.fields().stream().map(field -> new ViewRows.FieldOfShard(shard, field)))
              .map(ViewRows.FIELDS.rows(columns));
        case FILES ->
          inspections().flatMap(shard -> shard.files().stream()).map(ViewRows.FILES.rows(columns));
        case VERSIONS -> throw new IllegalArgumentException("Shards have no versions");
      };
    }

    private Stream<ShardInspection> inspections() {
      Storage storage = SparkStorages.storageFor(location);
      List<ShardInspection> inspections = new ArrayList<>();
      long first = firstIndex;
      for (ShardSummary shard : shards) {
        ShardInspection inspection = ShardInspection.of(storage, schema, shard, first);
        inspections.add(isStore ? inspection.atRoot() : inspection);
        first += shard.length();
      }
      return inspections.stream();
    }
  }

  /** Versions of a table. */
  record OfVersions(String location, List<Long> versions) implements ViewPartition {

    @Override
    public Stream<InternalRow> rows(ViewName view, StructType columns) {
      TableHistory history = TableHistory.of(SparkStorages.storageFor(location));
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
