package io.zrecord.spark.view;

import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.DatasetFile;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.ShardUsage;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.inspect.VersionEntry;
import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.options.ViewName;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.spark.sql.types.StructType;

/** The columns of the views. */
final class ViewRows {
  static final ViewColumns<ChunkUsage> CHUNKS = space(
      new ViewColumns<ChunkUsage>()
          .string("shard", chunk -> chunk.shard().toString())
          .number("chunk", ChunkUsage::chunkId)
          .string("file", ChunkUsage::file),
      ChunkUsage::space);

  static final ViewColumns<ShardUsage> SHARDS = fragmentation(
      space(
          new ViewColumns<ShardUsage>()
              .string("shard", shard -> shard.shard().toString())
              .number("first_index", ShardUsage::firstIndex)
              .number("records", ShardUsage::recordCount)
              .number("chunks", shard -> (long) shard.chunks().size()),
          ShardUsage::space),
      ShardUsage::fragmentation);

  static final ViewColumns<FieldOfShard> FIELDS = fragmentation(
      new ViewColumns<FieldOfShard>()
          .string("shard", row -> row.shard.shard().toString())
          .number("first_index", row -> row.shard.firstIndex())
          .number("field_id", row -> (long) row.field.field().id())
          .string("field", row -> row.field.field().name())
          .string("type", row -> type(row.field.field()))
          .string("compression", row -> row.field.field().compression().toString())
          .number("records", row -> row.field.recordCount())
          .number("absent", row -> row.field.absentCount())
          .number("live_bytes", row -> row.field.liveBytes())
          .number("padding_bytes", row -> row.field.paddingBytes()),
      row -> row.field.fragmentation());

  static final ViewColumns<VersionEntry> VERSIONS = new ViewColumns<VersionEntry>()
      .number("version", VersionEntry::version)
      .time("timestamp", ViewRows::micros)
      .string("operation", VersionEntry::operation)
      .stringIfAny("application_id", VersionEntry::applicationId)
      .stringIfAny("user", VersionEntry::user)
      .numberIfAny("added_records", VersionEntry::addedRecords)
      .numberIfAny("added_bytes", VersionEntry::addedBytes)
      .numberIfAny("removed_records", VersionEntry::removedRecords)
      .numberIfAny("removed_bytes", VersionEntry::removedBytes)
      .number("records", VersionEntry::recordCount)
      .number("shards", VersionEntry::shardCount)
      .string("tags", version -> String.join(",", version.tags()));

  static final ViewColumns<DatasetFile> FILES = new ViewColumns<DatasetFile>()
      .string("file", DatasetFile::name)
      .string("kind", file -> file.kind().name().toLowerCase(Locale.ROOT))
      .stringIfAny("shard", file -> file.shard().map(UUID::toString))
      .numberIfAny("bytes", DatasetFile::lengthBytes);

  /** A field in a shard. */
  record FieldOfShard(ShardUsage shard, FieldUsage field) {}

  private ViewRows() {}

  private static <T> ViewColumns<T> space(ViewColumns<T> columns, Function<T, SpaceUsage> space) {
    return columns
        .number("bytes", row -> space.apply(row).fileBytes())
        .number("live_bytes", row -> space.apply(row).liveBytes())
        .number("dead_bytes", row -> space.apply(row).deadBytes())
        .number("padding_bytes", row -> space.apply(row).paddingBytes())
        .fraction("byte_utilization", row -> space.apply(row).byteUtilization())
        .number("written_records", row -> space.apply(row).writtenRecords())
        .number("live_records", row -> space.apply(row).liveRecords())
        .fraction("record_utilization", row -> space.apply(row).recordUtilization());
  }

  private static <T> ViewColumns<T> fragmentation(
      ViewColumns<T> columns, Function<T, Fragmentation> fragmentation) {
    return columns
        .number("pairs", row -> fragmentation.apply(row).pairCount())
        .number("scattered_pairs", row -> fragmentation.apply(row).scatteredCount())
        .fraction("mean_jump_bytes", row -> fragmentation.apply(row).meanJumpBytes())
        .number("spanned_bytes", row -> fragmentation.apply(row).spannedBytes())
        .fraction("scan_cost", row -> fragmentation.apply(row).scanCost());
  }

  /** Returns a type such as {@code utf8} or {@code u8[28,28]}. */
  private static String type(FieldSpec field) {
    return field.type() + (field.shape().isScalar() ? "" : field.shape().toString());
  }

  /**
   * Returns the time in microseconds. A time beyond Spark's range becomes the last time in the
   * range.
   */
  private static long micros(VersionEntry version) {
    return TimeUnit.MILLISECONDS.toMicros(version.timestamp().toEpochMilli());
  }

  /** Returns the columns of a view. */
  static StructType schema(ViewName view) {
    return switch (view) {
      case CHUNKS -> CHUNKS.schema();
      case SHARDS -> SHARDS.schema();
      case FIELDS -> FIELDS.schema();
      case VERSIONS -> VERSIONS.schema();
      case FILES -> FILES.schema();
    };
  }
}
