package io.zrecord.spark.metadata;

import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.DatasetFile;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.ShardUsage;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.inspect.VersionEntry;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.UnreadableField;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.spark.column.SparkTypes;
import io.zrecord.spark.options.ViewName;
import io.zrecord.spark.partition.PartitionValues;
import io.zrecord.table.Tag;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The columns of the metadata tables of one version. Immutable.
 *
 * @param schema the fields of the version
 * @param partitionFields the fields by which the version is partitioned
 */
record MetadataRows(RecordSchema schema, List<FieldSpec> partitionFields) {
  static final RowColumns<ShardUsage> SHARD_USAGE = fragmentation(
      space(
          new RowColumns<ShardUsage>()
              .string("shard", "identity of the shard", usage -> usage.shard().toString())
              .number("first_index", "index of the first record", ShardUsage::firstIndex)
              .number("records", "records of the shard", ShardUsage::recordCount)
              .number("chunks", "chunk files", usage -> (long) usage.chunks().size()),
          ShardUsage::space),
      ShardUsage::fragmentation);

  static final RowColumns<FieldOfShard> FIELD_USAGE = fragmentation(
      new RowColumns<FieldOfShard>()
          .string("shard", "identity of the shard", row -> row.shard.shard().toString())
          .number("first_index", "index of the first record", row -> row.shard.firstIndex())
          .number(
              "field_id", "number of the field", row -> (long) row.field.field().id())
          .string("field", "name of the field", row -> row.field.field().name())
          .string("type", "type and shape of a value", row -> type(row.field.field()))
          .string(
              "compression",
              "how values are written",
              row -> row.field.field().compression().toString())
          .number("records", "records of the shard", row -> row.field.recordCount())
          .number("absent", "records without a value", row -> row.field.absentCount())
          .number("live_bytes", "bytes of the values", row -> row.field.liveBytes())
          .number("padding_bytes", "bytes after values", row -> row.field.paddingBytes()),
      row -> row.field.fragmentation());

  static final RowColumns<VersionEntry> VERSIONS = new RowColumns<VersionEntry>()
      .number("version", "number of the version", VersionEntry::version)
      .time("timestamp", "time of the commit", version -> micros(version.timestamp()))
      .string("operation", "what the commit did", VersionEntry::operation)
      .stringIfAny("application_id", "program that committed", VersionEntry::applicationId)
      .stringIfAny("user", "user who committed", VersionEntry::user)
      .numberIfAny("added_records", "records that the commit added", VersionEntry::addedRecords)
      .numberIfAny("added_bytes", "bytes of chunks that it added", VersionEntry::addedBytes)
      .numberIfAny(
          "removed_records", "records that the commit removed", VersionEntry::removedRecords)
      .numberIfAny("removed_bytes", "bytes of chunks that it left out", VersionEntry::removedBytes)
      .number("records", "records of the version", VersionEntry::recordCount)
      .number("shards", "shards of the version", VersionEntry::shardCount)
      .strings("tags", "names of the version", VersionEntry::tags)
      .numberIfAny("parent", "version before, maybe expired", VersionEntry::parent)
      .string(
          "commit_id", "identity of the commit", version -> version.commitId().toString())
      .numbersByName(
          "transactions", "last transaction of each application", VersionEntry::transactions)
      .stringsByName("properties", "what the writer left", VersionEntry::properties);

  static final RowColumns<Tag> TAGS = new RowColumns<Tag>()
      .string("name", "name of the tag", Tag::name)
      .number("version", "version that the tag names", Tag::version)
      .time("created", "time when the tag was made", tag -> micros(tag.created()));

  static final RowColumns<FieldOfVersion> FIELDS = new RowColumns<FieldOfVersion>()
      .number("position", "place among the fields, from 0", FieldOfVersion::position)
      .number("id", "number of the field, for ever", FieldOfVersion::id)
      .string("name", "name of the field", FieldOfVersion::name)
      .stringIfAny(
          "type", "type of an element", field -> field.of(spec -> spec.type().toString()))
      .numbersIfAny(
          "shape",
          "dimensions of a tensor, -1 where they differ by value",
          field -> field.of(MetadataRows::dimensions))
      .stringIfAny(
          "column_type",
          "type of the column in Spark",
          field -> field.of(spec -> SparkTypes.columnType(spec).catalogString()))
      .stringIfAny(
          "compression",
          "how values are written",
          field -> field.of(spec -> spec.compression().toString()))
      .flagIfAny(
          "nullable",
          "whether a value may be absent",
          field -> field.of(spec -> spec.rules().isNullable()))
      .stringIfAny(
          "default",
          "value of a record that sets none, in SQL",
          field -> field.of(MetadataRows::defaultOf))
      .stringIfAny("comment", "text for people", field -> field.of(MetadataRows::comment))
      .stringIfAny("unknown_feature", "why the field cannot be read", FieldOfVersion::feature);

  /**
   * A shard, as a list of shards has it.
   *
   * @param ordinal place among the shards, from 0
   */
  record ListedShard(long ordinal, long firstIndex, ShardSummary summary) {}

  /** A field in a shard. */
  record FieldOfShard(ShardUsage shard, FieldUsage field) {}

  /**
   * A field of a version.
   *
   * @param spec null if this release cannot read the field
   */
  record FieldOfVersion(
      long position, long id, String name, @Nullable FieldSpec spec, Optional<String> feature) {
    static FieldOfVersion of(long position, FieldSpec spec) {
      return new FieldOfVersion(position, spec.id(), spec.name(), spec, Optional.empty());
    }

    static FieldOfVersion of(long position, UnreadableField field) {
      return new FieldOfVersion(
          position, field.id(), field.name(), null, Optional.of(field.feature()));
    }

    private <V> Optional<V> of(Function<FieldSpec, @Nullable V> value) {
      return Optional.ofNullable(spec).map(value);
    }
  }

  /**
   * A file.
   *
   * @param path where the file is
   * @param fields ids of the fields that have tables in the file; empty if that is not known
   */
  record FileOfVersion(DatasetFile file, String path, Optional<List<Integer>> fields) {}

  /** The records of a partition, whose values are as a shard has them. */
  record Partition(
      List<@Nullable String> values, long records, long deleted, long shards, long bytes) {
    Partition plus(ShardSummary shard) {
      return new Partition(
          values,
          records + shard.length(),
          deleted + shard.slots() - shard.length(),
          shards + 1,
          bytes + shard.chunkBytes());
    }
  }

  RowColumns<ListedShard> shards() {
    RowColumns<ListedShard> columns = new RowColumns<ListedShard>()
        .number("ordinal", "place among the shards, from 0", ListedShard::ordinal)
        .string("shard", "identity of the shard", row -> row.summary.id().toString())
        .number("first_index", "index of the first record", ListedShard::firstIndex)
        .number("records", "records of the shard", row -> row.summary.length())
        .number(
            "deleted",
            "records that were deleted and still take space",
            row -> row.summary.slots() - row.summary.length())
        .number("chunks", "chunk files", row -> (long) row.summary.chunkCount())
        .number("bytes", "bytes of the chunk files", row -> row.summary.chunkBytes())
        .number(
            "tables_bytes",
            "bytes of the tables files and of the patch",
            row -> tablesBytes(row.summary))
        .stringIfAny(
            "patch",
            "file of deletions and changes",
            row -> Optional.ofNullable(row.summary.patch()).map(row.summary::fileOf))
        .strings(
            "fields",
            "fields that have values in the shard, besides those of the patch",
            row -> names(row.summary.tables().stream()
                .flatMap(tables -> tables.fieldIds().stream())
                .sorted()
                .toList()))
        .numbersByName(
            "value_bytes",
            "stored bytes of the values of each field, besides those of the patch",
            row -> byName(row.summary.valueBytes()));
    return partitionFields.isEmpty()
        ? columns
        : columns.struct(
            "partition",
            partitionType(),
            "values of the partition",
            row -> partition(row.summary.partition()));
  }

  RowColumns<Partition> partitions() {
    RowColumns<Partition> columns = new RowColumns<>();
    if (!partitionFields.isEmpty()) {
      columns.struct(
          "partition", partitionType(), "values of the partition", row -> partition(row.values));
    }
    return columns
        .number("records", "records of the partition", Partition::records)
        .number("deleted", "records that were deleted and still take space", Partition::deleted)
        .number("shards", "shards of the partition", Partition::shards)
        .number("bytes", "bytes of the chunk files", Partition::bytes);
  }

  RowColumns<ChunkUsage> chunks() {
    return space(
            new RowColumns<ChunkUsage>()
                .string("shard", "identity of the shard", chunk -> chunk.shard().toString())
                .number("chunk", "number of the chunk", ChunkUsage::chunkId)
                .string("file", "name relative to the dataset", ChunkUsage::file),
            ChunkUsage::space)
        .numbersByName(
            "field_bytes",
            "bytes of values in use of each field",
            chunk -> byName(chunk.liveBytes()));
  }

  RowColumns<FileOfVersion> files() {
    return new RowColumns<FileOfVersion>()
        .string("file", "name relative to the dataset", row -> row.file.name())
        .string(
            "kind",
            "manifest, list, chunk, tables or patch",
            row -> row.file.kind().name().toLowerCase(Locale.ROOT))
        .stringIfAny("shard", "shard of the file", row -> row.file.shard().map(UUID::toString))
        .numberIfAny("bytes", "length in bytes; null if missing", row -> row.file.lengthBytes())
        .string("path", "where the file is", FileOfVersion::path)
        .stringsIfAny("fields", "fields of a tables file", row -> row.fields.map(this::names));
  }

  /** Returns the columns of a metadata table. */
  StructType columns(ViewName view) {
    return switch (view) {
      case CHUNKS -> chunks().schema();
      case SHARDS -> shards().schema();
      case FIELDS -> FIELDS.schema();
      case VERSIONS -> VERSIONS.schema();
      case FILES -> files().schema();
      case TAGS -> TAGS.schema();
      case PARTITIONS -> partitions().schema();
      case SHARD_USAGE -> SHARD_USAGE.schema();
      case FIELD_USAGE -> FIELD_USAGE.schema();
    };
  }

  /** Returns the names of fields that the version has. */
  private List<String> names(Collection<Integer> ids) {
    return ids.stream()
        .flatMap(id -> schema.find(id).stream())
        .map(FieldSpec::name)
        .toList();
  }

  private Map<String, Long> byName(Map<Integer, Long> byId) {
    Map<String, Long> byName = new TreeMap<>();
    byId.forEach(
        (id, number) -> schema.find(id).ifPresent(field -> byName.put(field.name(), number)));
    return byName;
  }

  private StructType partitionType() {
    return new StructType(partitionFields.stream()
        .map(field -> new StructField(
            field.name(),
            SparkTypes.columnType(field),
            field.rules().isNullable(),
            org.apache.spark.sql.types.Metadata.empty()))
        .toArray(StructField[]::new));
  }

  private InternalRow partition(List<@Nullable String> texts) {
    @Nullable Object[] values = new Object[partitionFields.size()];
    for (int i = 0; i < values.length; i++) {
      FieldSpec field = partitionFields.get(i);
      values[i] = PartitionValues.internal(field, PartitionValues.of(field, texts.get(i)));
    }
    return new GenericInternalRow(values);
  }

  private static long tablesBytes(ShardSummary shard) {
    PatchRef patch = shard.patch();
    return shard.tables().stream().mapToLong(TablesRef::bytes).sum()
        + (patch == null ? 0 : patch.bytes());
  }

  private static @Nullable List<Long> dimensions(FieldSpec field) {
    return field.shape().isScalar()
        ? null
        : field.shape().dimensions().stream().map(Integer::longValue).toList();
  }

  private static @Nullable String comment(FieldSpec field) {
    return field.rules().comment().isEmpty() ? null : field.rules().comment();
  }

  private static @Nullable String defaultOf(FieldSpec field) {
    String declared = field.rules().defaultSql();
    if (declared != null) {
      return declared;
    }
    scala.Option<String> value = SparkTypes.columnOf(field).getCurrentDefaultValue();
    return value.isDefined() ? value.get() : null;
  }

  private static <T> RowColumns<T> space(RowColumns<T> columns, Function<T, SpaceUsage> space) {
    return columns
        .number("bytes", "bytes of the file", row -> space.apply(row).fileBytes())
        .number("live_bytes", "bytes of values in use", row -> space.apply(row).liveBytes())
        .number("dead_bytes", "bytes that nothing uses", row -> space.apply(row).deadBytes())
        .number(
            "padding_bytes",
            "bytes of headers and gaps",
            row -> space.apply(row).paddingBytes())
        .fraction(
            "byte_utilization", "share of live bytes", row -> space.apply(row).byteUtilization())
        .number("written_records", "records written", row -> space.apply(row).writtenRecords())
        .number("live_records", "records in use", row -> space.apply(row).liveRecords())
        .fraction(
            "record_utilization",
            "share of live records",
            row -> space.apply(row).recordUtilization());
  }

  private static <T> RowColumns<T> fragmentation(
      RowColumns<T> columns, Function<T, Fragmentation> fragmentation) {
    return columns
        .number(
            "pairs",
            "values that follow another in the order of the index",
            row -> fragmentation.apply(row).pairCount())
        .number(
            "scattered_pairs",
            "pairs that are not neighbours in a file",
            row -> fragmentation.apply(row).scatteredCount())
        .fraction(
            "mean_jump_bytes",
            "mean distance of scattered pairs, in bytes",
            row -> fragmentation.apply(row).meanJumpBytes())
        .number(
            "spanned_bytes",
            "bytes of the pages that a scan reads",
            row -> fragmentation.apply(row).spannedBytes())
        .fraction(
            "scan_cost",
            "bytes that a scan reads for each live byte",
            row -> fragmentation.apply(row).scanCost());
  }

  /** Returns a type such as {@code utf8} or {@code u8[28,28]}. */
  private static String type(FieldSpec field) {
    return field.type() + (field.shape().isScalar() ? "" : field.shape().toString());
  }

  /**
   * Returns a time in microseconds. A time beyond Spark's range becomes the last time in the range.
   */
  private static long micros(Instant time) {
    return TimeUnit.MILLISECONDS.toMicros(time.toEpochMilli());
  }
}
