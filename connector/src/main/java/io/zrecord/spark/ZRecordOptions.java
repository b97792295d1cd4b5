package io.zrecord.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Names of all options, and the check that no other is given. Names are compared without case, as Spark does. */
final class ZRecordOptions {
  static final String PATH = "path";
  static final String PATHS = "paths";

  // Reading.
  static final String VERSION_AS_OF = "versionAsOf";
  static final String TIMESTAMP_AS_OF = "timestampAsOf";
  static final String TAG = "tag";
  static final String INDICES = "indices";
  static final String NUM_PARTITIONS = "numPartitions";
  static final String VERIFY = "verify";
  static final String BATCH_ROWS = "batchRows";
  static final String BATCH_BYTES = "batchBytes";

  // Reading about a dataset instead of its records.
  static final String VIEW = "view";

  // Reading in the order of a sampler.
  static final String SAMPLER = "sampler";
  static final String SEED = "seed";
  static final String EPOCH = "epoch";
  static final String NUM_SAMPLES = "numSamples";
  static final String START_POSITION = "startPosition";
  static final String RANK = "rank";
  static final String WORLD_SIZE = "worldSize";
  static final String REMAINDER = "remainder";
  static final String FROM = "from";
  static final String TO = "to";
  static final String STEP = "step";
  static final String WINDOW = "window";
  static final String STRIDE = "stride";
  static final String BLOCK_LENGTH = "blockLength";
  static final String MIXED = "mixed";
  static final String BATCH_SIZE = "batchSize";
  static final String WEIGHTS_FIELD = "weightsField";
  static final String LABELS_FIELD = "labelsField";

  static final List<String> OF_RANKS = List.of(RANK, WORLD_SIZE, REMAINDER);
  static final List<String> OF_EVERY_SAMPLER =
      List.of(SEED, EPOCH, NUM_SAMPLES, START_POSITION, RANK, WORLD_SIZE, REMAINDER);

  /** All that mean nothing without a sampler. */
  static final List<String> OF_SAMPLERS = Stream.concat(
          OF_EVERY_SAMPLER.stream(),
          Stream.of(
              FROM,
              TO,
              STEP,
              WINDOW,
              STRIDE,
              BLOCK_LENGTH,
              MIXED,
              BATCH_SIZE,
              WEIGHTS_FIELD,
              LABELS_FIELD))
      .toList();

  // Writing.
  static final String COMPRESSION = "compression";
  static final String CHUNK_RECORDS = "chunkRecords";
  static final String CHUNK_BYTES = "chunkBytes";
  static final String STRIPE_BYTES = "stripeBytes";
  static final String ALIGN_BYTES = "alignBytes";
  static final String CHECKSUM = "checksum";
  static final String DURABILITY = "durability";
  static final String MERGE_SCHEMA = "mergeSchema";
  static final String TXN_APP_ID = "txnAppId";
  static final String TXN_VERSION = "txnVersion";

  /** Followed by a field's name. */
  static final String COMPRESSION_OF = "compression.";

  /** Followed by a field's name. */
  static final String SHAPE_OF = "shape.";

  private static final Set<String> READ = Stream.concat(
          OF_SAMPLERS.stream(),
          Stream.of(
              PATH,
              PATHS,
              VERSION_AS_OF,
              TIMESTAMP_AS_OF,
              TAG,
              INDICES,
              NUM_PARTITIONS,
              VERIFY,
              BATCH_ROWS,
              BATCH_BYTES,
              SAMPLER,
              VIEW))
      .collect(Collectors.toUnmodifiableSet());

  /** Those that go with a view. */
  private static final Set<String> OF_VIEWS =
      Set.of(PATH, PATHS, VERSION_AS_OF, TIMESTAMP_AS_OF, TAG, NUM_PARTITIONS, VIEW);

  private static final Set<String> WRITE = Set.of(
      PATH,
      COMPRESSION,
      CHUNK_RECORDS,
      CHUNK_BYTES,
      STRIPE_BYTES,
      ALIGN_BYTES,
      CHECKSUM,
      DURABILITY,
      MERGE_SCHEMA,
      TXN_APP_ID,
      TXN_VERSION);
  private static final Set<String> WRITE_PREFIXES = Set.of(COMPRESSION_OF, SHAPE_OF);

  /** Set by Spark itself on the way to a source. */
  private static final Set<String> SPARK =
      Set.of("provider", "location", "owner", "comment", "__required_write_privileges__");

  private ZRecordOptions() {}

  static void requireKnownForReading(Map<String, String> options) {
    requireKnown("read", options, READ, Set.of(), WRITE, WRITE_PREFIXES);
  }

  /** Refuses options of records; those of the session are for other reads. */
  static void requireOfViews(Map<String, String> options) {
    requireKnownForReading(options);
    for (String key : options.keySet()) {
      if (isAmong(key, READ, Set.of())
          && !isAmong(key, OF_VIEWS, Set.of())
          && !isSessionDefault(key)) {
        throw new IllegalArgumentException("Option " + key + " does not go with the option " + VIEW
            + ", which reads no records; use one of them");
      }
    }
  }

  static void requireKnownForWriting(Map<String, String> options) {
    requireKnown("write", options, WRITE, WRITE_PREFIXES, READ, Set.of());
  }

  private static void requireKnown(
      String action,
      Map<String, String> options,
      Set<String> known,
      Set<String> prefixes,
      Set<String> elsewhere,
      Set<String> prefixesElsewhere) {
    List<String> unknown = new ArrayList<>();
    for (String key : options.keySet()) {
      // A session-wide default may be meant for the other direction.
      boolean tolerated = isAmong(key, known, prefixes)
          || isAmong(key, SPARK, Set.of())
          || (isSessionDefault(key) && isAmong(key, elsewhere, prefixesElsewhere));
      if (!tolerated) {
        unknown.add(key);
      }
    }
    if (!unknown.isEmpty()) {
      Set<String> names = new TreeSet<>(known);
      prefixes.forEach(prefix -> names.add(prefix + "<field>"));
      throw new IllegalArgumentException("Cannot " + action + " zrecord with unknown option"
          + (unknown.size() == 1 ? " " : "s ") + String.join(", ", unknown) + "; the options to "
          + action + " are "
          + String.join(", ", names));
    }
  }

  /** Whether an option has its value from the session, for all reads and writes. */
  static boolean isSessionDefault(String key) {
    return org.apache.spark.sql.SparkSession.active()
        .conf()
        .getOption("spark.datasource." + ZRecordSource.SHORT_NAME + "." + key)
        .isDefined();
  }

  private static boolean isAmong(String key, Set<String> names, Set<String> prefixes) {
    String folded = key.toLowerCase(Locale.ROOT);
    return names.stream().anyMatch(key::equalsIgnoreCase)
        || prefixes.stream()
            .anyMatch(prefix -> folded.startsWith(prefix) && folded.length() > prefix.length());
  }
}
