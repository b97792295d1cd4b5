package io.zrecord.spark.options;

import io.zrecord.feed.spec.SamplerParameter;
import java.util.List;
import java.util.stream.Stream;

/**
 * Names of all options, and the check that no other option is given. Names are compared without
 * case, as Spark does.
 */
public final class ZRecordOptions {
  /** The name of the data source, in {@code format("zrecord")} and before paths in SQL. */
  public static final String FORMAT = "zrecord";

  public static final String PATH = "path";
  public static final String PATHS = "paths";

  /** An option of reads and writes. */
  static final String UNKNOWN_OPTIONS = "unknownOptions";

  // Reading.
  public static final String VERSION_AS_OF = "versionAsOf";
  public static final String TIMESTAMP_AS_OF = "timestampAsOf";
  public static final String TAG = "tag";
  public static final String GLOB_PATHS = "globPaths";
  static final String INDICES = "indices";
  static final String NUM_PARTITIONS = "numPartitions";
  static final String VERIFY = "verify";
  static final String STATISTICS = "statistics";
  static final String BATCH_ROWS = "batchRows";
  static final String BATCH_BYTES = "batchBytes";

  // Reading what versions changed.
  public static final String CHANGES_FROM = "changesFrom";
  public static final String CHANGES_FROM_TIMESTAMP = "changesFromTimestamp";
  public static final String CHANGES_TO = "changesTo";
  static final String CHANGES_TO_TIMESTAMP = "changesToTimestamp";
  static final String DEDUPLICATION_MODE = "deduplicationMode";

  // Reading a stream.
  public static final String READ_CHANGES = "readChanges";
  public static final String STARTING_VERSION = "startingVersion";
  public static final String STARTING_TIMESTAMP = "startingTimestamp";
  static final String MAX_RECORDS_PER_TRIGGER = "maxRecordsPerTrigger";
  static final String MAX_BYTES_PER_TRIGGER = "maxBytesPerTrigger";
  static final String MAX_SHARDS_PER_TRIGGER = "maxShardsPerTrigger";
  static final String MAX_VERSIONS_PER_TRIGGER = "maxVersionsPerTrigger";
  public static final String SKIP_CHANGE_COMMITS = "skipChangeCommits";

  // Reading about a dataset instead of its records.
  public static final String VIEW = "view";

  /** Options of samplers: {@code sampler} and all options that mean nothing without it. */
  static final List<String> OF_SAMPLERS =
      Stream.of(SamplerParameter.values()).map(SamplerParameter::text).toList();

  // Writing.
  static final String COMPRESSION = "compression";
  static final String CHUNK_BYTES = "chunkBytes";
  static final String STRIPE_BYTES = "stripeBytes";
  static final String ALIGN_BYTES = "alignBytes";
  static final String BLOCK_BYTES = "blockBytes";
  static final String TRANSFORM = "transform";
  static final String CHECKSUM = "checksum";
  static final String DURABILITY = "durability";
  public static final String SHARD_BYTES = "shardBytes";
  public static final String ORDER = "order";
  public static final String DISTRIBUTION = "distribution";
  public static final String MERGE_SCHEMA = "mergeSchema";
  public static final String OVERWRITE_SCHEMA = "overwriteSchema";
  static final String TXN_APP_ID = "txnAppId";
  static final String TXN_VERSION = "txnVersion";
  public static final String EXPECTED_VERSION = "expectedVersion";

  /** Prefix that a field's name follows. */
  static final String COMPRESSION_OF = "compression.";

  /** Prefix that a field's name follows. */
  public static final String SHAPE_OF = "shape.";

  private ZRecordOptions() {}
}
