package io.zrecord.spark.options;

import io.zrecord.schema.Compression;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.shard.Transform;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.TableChange;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The options of a write, parsed once on the driver. An option of the write goes before a default
 * of the session, and both before a property of the table. Unknown options and values are refused.
 * Immutable.
 */
public final class WriteConf {
  private static final String LIST = "list";

  /** Less would make a shard of a few records, each with its files. */
  private static final long LEAST_SHARD_BYTES = 64 << 10;

  /** What the write says itself. */
  private final CaseInsensitiveStringMap own;

  /** What the write says, and the defaults of the session for all else. */
  private final CaseInsensitiveStringMap near;

  /** The options of the table's properties. */
  private final CaseInsensitiveStringMap ofTable;

  private final boolean isInAnyOrder;
  private final boolean isOfEpochs;

  /** All options, of which the nearest has each. */
  private final CaseInsensitiveStringMap options;

  /** Parses the options of a write to a table that says nothing of its writes. */
  public WriteConf(CaseInsensitiveStringMap own) {
    this(own, Map.of(), Map.of());
  }

  /**
   * Parses the options of a write.
   *
   * @param properties all properties of the table
   * @param nearer properties that go before those, which the statement or a catalog says
   * @throws IllegalArgumentException if an option is unknown, or a value is not one of the option
   */
  public WriteConf(
      CaseInsensitiveStringMap own, Map<String, String> properties, Map<String, String> nearer) {
    this(
        SessionDefaults.removedFrom(own),
        SessionDefaults.addedTo(own),
        TableProperties.writeOptions(properties, nearer),
        false,
        false);
  }

  /**
   * Parses what properties of a table say, whatever the session says.
   *
   * @throws IllegalArgumentException if an option is unknown, or a value is not one of the option
   */
  public static WriteConf ofTable(Map<String, String> properties) {
    CaseInsensitiveStringMap nothing = CaseInsensitiveStringMap.empty();
    return new WriteConf(
        nothing, nothing, TableProperties.writeOptions(properties, Map.of()), false, false);
  }

  /** @param near what the write says, and the defaults of the session for all else */
  private WriteConf(
      CaseInsensitiveStringMap own,
      CaseInsensitiveStringMap near,
      CaseInsensitiveStringMap ofTable,
      boolean isInAnyOrder,
      boolean isOfEpochs) {
    this.own = own;
    this.near = near;
    this.ofTable = ofTable;
    this.isInAnyOrder = isInAnyOrder;
    this.isOfEpochs = isOfEpochs;
    KnownOptions.requireKnownForWriting(near);
    Map<String, String> all = new HashMap<>(ofTable);
    all.putAll(near);
    this.options = new CaseInsensitiveStringMap(all);
    requireParsed();
  }

  /** Returns the same options for rows that come in any order, whatever anybody says of it. */
  public WriteConf inAnyOrder() {
    return new WriteConf(own, near, ofTable, true, isOfEpochs);
  }

  /** Returns the same options for an epoch of a stream. */
  public WriteConf ofEpochs() {
    return new WriteConf(own, near, ofTable, isInAnyOrder, true);
  }

  /** Tells whether the write is an epoch of a stream. */
  public boolean isOfEpochs() {
    return isOfEpochs;
  }

  /** Parses all values, whether or not the write looks at each of them. */
  private void requireParsed() {
    writeOptions();
    shardBytes();
    order();
    Stream.of(own, ofTable).flatMap(said -> fieldsNamed(said).stream()).forEach(field -> {
      compressionOf(field);
      shapeOf(field);
    });
    compressionOf("");
    distribution();
    mergesSchema();
    transaction();
    expectedVersion();
  }

  /**
   * Checks options that are kept for later writes.
   *
   * @throws IllegalArgumentException if an option or its value is unknown, or is of one write only
   */
  public static void requireValid(Map<String, String> options) {
    StorageSettings.refuseToKeep(options);
    options.keySet().stream().filter(KnownOptions::isOfOneWrite).findAny().ifPresent(key -> {
      throw new IllegalArgumentException("Option " + key + " is of one write, and the table would"
          + " keep it for all later writes; leave it out of the OPTIONS of the table, and give it"
          + " to the write itself");
    });
    CaseInsensitiveStringMap nothing = CaseInsensitiveStringMap.empty();
    CaseInsensitiveStringMap all = new CaseInsensitiveStringMap(options);
    new WriteConf(all, all, nothing, false, false);
  }

  /** Returns those of the given options that all writes of a table have. */
  public static Map<String, String> writeOptionsAmong(Map<String, String> options) {
    return options.entrySet().stream()
        .filter(option -> KnownOptions.isOfAllWrites(option.getKey()))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  public WriteOptions writeOptions() {
    WriteOptions layout = WriteOptions.defaults();
    if (has(ZRecordOptions.CHUNK_BYTES)) {
      layout = layout.withChunkBytes(bytes(ZRecordOptions.CHUNK_BYTES));
    }
    if (has(ZRecordOptions.STRIPE_BYTES)) {
      layout = layout.withStripeBytes(bytes(ZRecordOptions.STRIPE_BYTES));
    }
    if (has(ZRecordOptions.ALIGN_BYTES)) {
      layout = layout.withAlignBytes(bytes(ZRecordOptions.ALIGN_BYTES));
    }
    if (has(ZRecordOptions.BLOCK_BYTES)) {
      layout = layout.withBlockBytes(bytes(ZRecordOptions.BLOCK_BYTES));
    }
    if (has(ZRecordOptions.TRANSFORM)) {
      layout = layout.withTransform(choice(ZRecordOptions.TRANSFORM, Transform.class));
    }
    if (has(ZRecordOptions.CHECKSUM)) {
      layout = layout.withChecksum(choice(ZRecordOptions.CHECKSUM, Checksum.class));
    }
    if (has(ZRecordOptions.DURABILITY)) {
      layout = layout.withDurability(choice(ZRecordOptions.DURABILITY, Durability.class));
    }
    return layout;
  }

  /**
   * Returns the compression asked for a field: that of the field's own option, otherwise that of
   * the option for all fields; of the write, otherwise of the session, otherwise of the table.
   */
  public Optional<Compression> compressionOf(String field) {
    String ofField = ZRecordOptions.COMPRESSION_OF + field;
    return Stream.of(own, near, ofTable)
        .flatMap(said -> Stream.of(ofField, ZRecordOptions.COMPRESSION)
            .filter(said::containsKey)
            .map(key -> OptionValue.parse(
                key, java.util.Objects.requireNonNull(said.get(key)), Compression::parse)))
        .findFirst();
  }

  /** Returns the shape asked for a field, such as {@code 28,28} or {@code -1,3}. */
  public Optional<Shape> shapeOf(String field) {
    String key = ZRecordOptions.SHAPE_OF + field;
    return value(key)
        .filter(text -> !isList(field))
        .map(text -> OptionValue.parse(key, text, WriteConf::shape));
  }

  /** Tells whether an array is to be a list, whose elements may be null, and not a tensor. */
  public boolean isList(String field) {
    return value(ZRecordOptions.SHAPE_OF + field)
        .filter(text -> text.strip().equalsIgnoreCase(LIST))
        .isPresent();
  }

  /** Returns the fields that a write's own options name, in lower case. */
  public Set<String> fieldsNamed() {
    return fieldsNamed(own);
  }

  /** Returns the fields that properties of the table name, in lower case. */
  public Set<String> fieldsNamedByTable() {
    return fieldsNamed(ofTable);
  }

  private static Set<String> fieldsNamed(CaseInsensitiveStringMap options) {
    Set<String> names = new TreeSet<>();
    for (String key : options.keySet()) {
      for (String prefix : new String[] {ZRecordOptions.COMPRESSION_OF, ZRecordOptions.SHAPE_OF}) {
        if (key.startsWith(prefix)) {
          names.add(key.substring(prefix.length()));
        }
      }
    }
    return names;
  }

  /**
   * Returns after how many bytes of chunk files a task begins the next shard; empty if a task
   * writes one shard, or one for each partition.
   */
  public OptionalLong shardBytes() {
    if (!has(ZRecordOptions.SHARD_BYTES)) {
      return OptionalLong.empty();
    }
    long bytes = bytes(ZRecordOptions.SHARD_BYTES);
    if (bytes < LEAST_SHARD_BYTES) {
      throw new IllegalArgumentException("Option " + ZRecordOptions.SHARD_BYTES + " has the value '"
          + required(ZRecordOptions.SHARD_BYTES) + "'; use at least " + LEAST_SHARD_BYTES
          + " bytes, such as 1g");
    }
    return OptionalLong.of(bytes);
  }

  /** Returns the order in which rows are written; empty if they stay as the query gives them. */
  public List<SortKey> order() {
    return value(ZRecordOptions.ORDER)
        .filter(text -> !isInAnyOrder)
        .map(text -> OptionValue.parse(ZRecordOptions.ORDER, text, SortKey::parse))
        .orElse(List.of());
  }

  /** Tells whether the session alone says an option, which may be meant for other tables. */
  public boolean isDefault(String key) {
    return near.containsKey(key) && !own.containsKey(key);
  }

  /** Returns where the rows of this write are to meet, if anybody says so. */
  public Optional<WriteDistribution> distribution() {
    if (isInAnyOrder) {
      return Optional.of(WriteDistribution.NONE);
    }
    return has(ZRecordOptions.DISTRIBUTION)
        ? Optional.of(choice(ZRecordOptions.DISTRIBUTION, WriteDistribution.class))
        : Optional.empty();
  }

  public boolean mergesSchema() {
    return value(ZRecordOptions.MERGE_SCHEMA)
        .map(text -> OptionValue.bool(ZRecordOptions.MERGE_SCHEMA, text))
        .orElse(false);
  }

  /** Tells whether an overwrite replaces the fields with all that they declare. */
  public boolean overwritesSchema() {
    return value(ZRecordOptions.OVERWRITE_SCHEMA)
        .map(text -> OptionValue.bool(ZRecordOptions.OVERWRITE_SCHEMA, text))
        .orElse(false);
  }

  public Optional<TableChange.Transaction> transaction() {
    if (has(ZRecordOptions.TXN_APP_ID) != has(ZRecordOptions.TXN_VERSION)) {
      throw new IllegalArgumentException("Options " + ZRecordOptions.TXN_APP_ID + " and "
          + ZRecordOptions.TXN_VERSION + " must be given together");
    }
    return value(ZRecordOptions.TXN_APP_ID)
        .map(app -> new TableChange.Transaction(app, number(ZRecordOptions.TXN_VERSION)));
  }

  /** Returns the version that must be the newest when the write is committed, if one is named. */
  public OptionalLong expectedVersion() {
    if (!has(ZRecordOptions.EXPECTED_VERSION)) {
      return OptionalLong.empty();
    }
    return OptionalLong.of(OptionValue.parse(
        ZRecordOptions.EXPECTED_VERSION,
        required(ZRecordOptions.EXPECTED_VERSION),
        WriteConf::version));
  }

  private static long version(String text) {
    if (!text.strip().matches("[0-9]{1,18}")) {
      throw new IllegalArgumentException("use the number of a version, such as 5");
    }
    return Long.parseLong(text.strip());
  }

  private boolean has(String key) {
    return options.containsKey(key);
  }

  private String required(String key) {
    return java.util.Objects.requireNonNull(options.get(key));
  }

  private Optional<String> value(String key) {
    return Optional.ofNullable(options.get(key));
  }

  private long number(String key) {
    return OptionValue.parse(key, required(key), text -> Long.parseLong(text.strip()));
  }

  private long bytes(String key) {
    return OptionValue.parse(key, required(key), JavaUtils::byteStringAsBytes);
  }

  private <E extends Enum<E>> E choice(String key, Class<E> type) {
    return OptionValue.parse(key, required(key), text -> {
      for (E constant : type.getEnumConstants()) {
        if (constant.name().equalsIgnoreCase(text.strip())) {
          return constant;
        }
      }
      throw new IllegalArgumentException(
          "use one of " + Arrays.toString(type.getEnumConstants()).toLowerCase(Locale.ROOT));
    });
  }

  private static Shape shape(String text) {
    String inner = text.strip().replaceAll("^\\[|\\]$", "");
    return Shape.of(Arrays.stream(inner.split(",", -1))
        .mapToInt(dimension -> Integer.parseInt(dimension.strip()))
        .toArray());
  }
}
