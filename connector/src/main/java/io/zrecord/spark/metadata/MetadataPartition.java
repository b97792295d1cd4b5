package io.zrecord.spark.metadata;

import io.zrecord.inspect.DatasetFile;
import io.zrecord.inspect.ShardInspection;
import io.zrecord.inspect.TableHistory;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.spark.metadata.MetadataRows.FieldOfShard;
import io.zrecord.spark.metadata.MetadataRows.FileOfVersion;
import io.zrecord.spark.metadata.MetadataRows.ListedShard;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.types.StructType;

/** The part of a metadata table that one task reads. */
sealed interface MetadataPartition extends InputPartition {

  /**
   * Returns the rows, which are made one after the other as they are taken.
   *
   * @param rows the columns of the version
   */
  Stream<InternalRow> rows(ViewName table, StructType columns, MetadataRows rows);

  /** The fields of shards. They travel with the readers, once for all tasks. */
  enum Fields {
    /** The fields of the version. */
    OF_DATASET,
    /** The fields of index maps. */
    OF_INDEX_MAPS
  }

  /** Rows that the driver knows already. */
  record OfRows(List<InternalRow> known) implements MetadataPartition {
    @Override
    public Stream<InternalRow> rows(ViewName table, StructType columns, MetadataRows rows) {
      return known.stream();
    }
  }

  /**
   * Consecutive shards.
   *
   * @param location location of the dataset
   * @param fields fields of the shards
   * @param shards shards, without the sizes of fields unless the columns need the sizes
   * @param ordinal place of the first of the shards, from 0
   * @param firstIndex index of the first record of the shards
   * @param isStore whether the dataset is a snapshot of a store, whose files are at its root
   */
  record OfShards(
      TableLocation location,
      Fields fields,
      List<ShardSummary> shards,
      int ordinal,
      long firstIndex,
      boolean isStore)
      implements MetadataPartition {

    @Override
    public Stream<InternalRow> rows(ViewName table, StructType columns, MetadataRows rows) {
      return switch (table) {
        case SHARDS -> listed().stream().map(rows.shards().rows(columns));
        case CHUNKS ->
          inspections(rows.schema())
              .flatMap(shard -> shard.usage().chunks().stream())
              .map(rows.chunks().rows(columns));
        case SHARD_USAGE ->
          inspections(rows.schema())
              .map(ShardInspection::usage)
              .map(MetadataRows.SHARD_USAGE.rows(columns));
        case FIELD_USAGE ->
          inspections(rows.schema())
              .map(ShardInspection::usage)
              .flatMap(
                  shard -> shard.fields().stream().map(field -> new FieldOfShard(shard, field)))
              .map(MetadataRows.FIELD_USAGE.rows(columns));
        case FILES -> {
          Map<String, List<Integer>> fieldsOf = fieldsOfTables();
          yield inspections(rows.schema())
              .flatMap(shard -> shard.files().stream())
              .map(file -> fileOf(location.storage(), file, fieldsOf))
              .map(rows.files().rows(columns));
        }
        case VERSIONS, TAGS, FIELDS, PARTITIONS ->
          throw new IllegalArgumentException("Shards have no " + table);
      };
    }

    private List<ListedShard> listed() {
      List<ListedShard> listed = new ArrayList<>();
      long first = firstIndex;
      for (ShardSummary shard : shards) {
        listed.add(new ListedShard(ordinal + listed.size(), first, shard));
        first += shard.length();
      }
      return listed;
    }

    private Stream<ShardInspection> inspections(RecordSchema schema) {
      RecordSchema known = fields == Fields.OF_DATASET ? schema : IndexMap.SCHEMA;
      Storage storage = location.storage();
      return listed().stream().map(shard -> {
        ShardInspection inspection =
            ShardInspection.of(storage, known, shard.summary(), shard.firstIndex());
        return isStore ? inspection.atRoot() : inspection;
      });
    }

    /** Returns the ids of the fields of each tables file, by the name of the file. */
    private Map<String, List<Integer>> fieldsOfTables() {
      Map<String, List<Integer>> fieldsOf = new HashMap<>();
      if (fields == Fields.OF_DATASET) {
        for (ShardSummary shard : shards) {
          for (TablesRef tables : shard.tables()) {
            fieldsOf.put(shard.fileOf(tables), tables.fieldIds());
          }
        }
      }
      return fieldsOf;
    }
  }

  /** Versions of a table. */
  record OfVersions(TableLocation location, List<Long> versions) implements MetadataPartition {

    @Override
    public Stream<InternalRow> rows(ViewName table, StructType columns, MetadataRows rows) {
      Storage storage = location.storage();
      TableHistory history = TableHistory.of(storage);
      return table == ViewName.FILES
          ? versions.stream()
              .flatMap(version -> history.files(version).stream())
              .map(file -> fileOf(storage, file, Map.of()))
              .map(rows.files().rows(columns))
          : versions.stream()
              .map(history::find)
              .flatMap(Optional::stream)
              .map(MetadataRows.VERSIONS.rows(columns));
    }
  }

  private static FileOfVersion fileOf(
      Storage storage, DatasetFile file, Map<String, List<Integer>> fieldsOf) {
    return new FileOfVersion(
        file, storage.pathOf(file.name()), Optional.ofNullable(fieldsOf.get(file.name())));
  }
}
