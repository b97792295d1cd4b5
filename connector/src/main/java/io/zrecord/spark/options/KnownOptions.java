package io.zrecord.spark.options;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Refuses options that are not known for an operation on a dataset. Stateless. */
final class KnownOptions {
  private static final Set<String> READ = Stream.concat(
          ZRecordOptions.OF_SAMPLERS.stream(),
          Stream.of(
              ZRecordOptions.PATH,
              ZRecordOptions.PATHS,
              ZRecordOptions.VERSION_AS_OF,
              ZRecordOptions.TIMESTAMP_AS_OF,
              ZRecordOptions.TAG,
              ZRecordOptions.GLOB_PATHS,
              ZRecordOptions.INDICES,
              ZRecordOptions.NUM_PARTITIONS,
              ZRecordOptions.VERIFY,
              ZRecordOptions.STATISTICS,
              ZRecordOptions.BATCH_ROWS,
              ZRecordOptions.BATCH_BYTES,
              ZRecordOptions.VIEW,
              ZRecordOptions.CHANGES_FROM,
              ZRecordOptions.CHANGES_FROM_TIMESTAMP,
              ZRecordOptions.CHANGES_TO,
              ZRecordOptions.CHANGES_TO_TIMESTAMP,
              ZRecordOptions.DEDUPLICATION_MODE,
              ZRecordOptions.READ_CHANGES,
              ZRecordOptions.STARTING_VERSION,
              ZRecordOptions.STARTING_TIMESTAMP,
              ZRecordOptions.MAX_RECORDS_PER_TRIGGER,
              ZRecordOptions.MAX_BYTES_PER_TRIGGER,
              ZRecordOptions.MAX_SHARDS_PER_TRIGGER,
              ZRecordOptions.MAX_VERSIONS_PER_TRIGGER,
              ZRecordOptions.SKIP_CHANGE_COMMITS,
              ZRecordOptions.UNKNOWN_OPTIONS))
      .collect(Collectors.toUnmodifiableSet());

  /** Options of reads that only a stream has. */
  private static final Set<String> OF_STREAMS = Set.of(
      ZRecordOptions.READ_CHANGES,
      ZRecordOptions.STARTING_VERSION,
      ZRecordOptions.STARTING_TIMESTAMP,
      ZRecordOptions.MAX_RECORDS_PER_TRIGGER,
      ZRecordOptions.MAX_BYTES_PER_TRIGGER,
      ZRecordOptions.MAX_SHARDS_PER_TRIGGER,
      ZRecordOptions.MAX_VERSIONS_PER_TRIGGER,
      ZRecordOptions.SKIP_CHANGE_COMMITS);

  /** Options that select which changes are read. */
  private static final Set<String> SELECTORS_OF_CHANGES = Set.of(
      ZRecordOptions.CHANGES_FROM,
      ZRecordOptions.CHANGES_FROM_TIMESTAMP,
      ZRecordOptions.CHANGES_TO,
      ZRecordOptions.CHANGES_TO_TIMESTAMP,
      ZRecordOptions.DEDUPLICATION_MODE);

  /** Options that fit a read of changes. */
  private static final Set<String> OF_CHANGES = Stream.concat(
          SELECTORS_OF_CHANGES.stream(),
          Stream.of(
              ZRecordOptions.PATH,
              ZRecordOptions.PATHS,
              ZRecordOptions.GLOB_PATHS,
              ZRecordOptions.VERIFY,
              ZRecordOptions.BATCH_ROWS,
              ZRecordOptions.BATCH_BYTES,
              ZRecordOptions.UNKNOWN_OPTIONS))
      .collect(Collectors.toUnmodifiableSet());

  /** Options that fit a metadata table. */
  private static final Set<String> OF_VIEWS = Set.of(
      ZRecordOptions.PATH,
      ZRecordOptions.PATHS,
      ZRecordOptions.VERSION_AS_OF,
      ZRecordOptions.TIMESTAMP_AS_OF,
      ZRecordOptions.TAG,
      ZRecordOptions.GLOB_PATHS,
      ZRecordOptions.NUM_PARTITIONS,
      ZRecordOptions.VIEW,
      ZRecordOptions.UNKNOWN_OPTIONS);

  private static final Set<String> WRITE = Set.of(
      ZRecordOptions.PATH,
      ZRecordOptions.COMPRESSION,
      ZRecordOptions.CHUNK_BYTES,
      ZRecordOptions.STRIPE_BYTES,
      ZRecordOptions.ALIGN_BYTES,
      ZRecordOptions.BLOCK_BYTES,
      ZRecordOptions.TRANSFORM,
      ZRecordOptions.CHECKSUM,
      ZRecordOptions.DURABILITY,
      ZRecordOptions.SHARD_BYTES,
      ZRecordOptions.ORDER,
      ZRecordOptions.DISTRIBUTION,
      ZRecordOptions.MERGE_SCHEMA,
      ZRecordOptions.OVERWRITE_SCHEMA,
      ZRecordOptions.TXN_APP_ID,
      ZRecordOptions.TXN_VERSION,
      ZRecordOptions.EXPECTED_VERSION,
      ZRecordOptions.UNKNOWN_OPTIONS);
  /** Options that say something of one write, which a table must not keep for later writes. */
  private static final Set<String> OF_ONE_WRITE = Set.of(
      ZRecordOptions.OVERWRITE_SCHEMA,
      ZRecordOptions.TXN_APP_ID,
      ZRecordOptions.TXN_VERSION,
      ZRecordOptions.EXPECTED_VERSION);

  private static final Set<String> WRITE_PREFIXES =
      Set.of(ZRecordOptions.COMPRESSION_OF, ZRecordOptions.SHAPE_OF);

  /** Options that select what is read. A write has another target. */
  private static final Set<String> SELECTORS = Stream.concat(
          SELECTORS_OF_CHANGES.stream(),
          Stream.of(
              ZRecordOptions.PATHS,
              ZRecordOptions.VERSION_AS_OF,
              ZRecordOptions.TIMESTAMP_AS_OF,
              ZRecordOptions.TAG,
              ZRecordOptions.GLOB_PATHS,
              ZRecordOptions.VIEW,
              ZRecordOptions.READ_CHANGES))
      .collect(Collectors.toUnmodifiableSet());

  /** Options that Spark itself sets on the way to a source. */
  private static final Set<String> SPARK =
      Set.of("provider", "location", "owner", "comment", "__required_write_privileges__");

  private KnownOptions() {}

  /** Tells whether a name is that of an option of writes. */
  static boolean isOfWrites(String name) {
    return isAmong(name, WRITE, WRITE_PREFIXES);
  }

  /** Tells whether a name is that of an option of reads. */
  static boolean isOfReads(String name) {
    return isAmong(name, READ, Set.of());
  }

  /**
   * Refuses unknown options of a read, which may be that of a stream: Spark does not say so before
   * it has planned the scan.
   */
  static void requireKnownForReading(CaseInsensitiveStringMap options) {
    requireKnown("read", options, READ, Set.of(), Set.of());
  }

  /**
   * Refuses options of streams for a read that is none.
   *
   * @param own the options without the session's defaults
   */
  static void requireOfBatches(CaseInsensitiveStringMap own) {
    own.asCaseSensitiveMap().keySet().stream()
        .filter(key -> isAmong(key, OF_STREAMS, Set.of()))
        .findFirst()
        .ifPresent(key -> {
          throw new IllegalArgumentException(
              "Option " + key + " is of streams; leave it out, or use spark.readStream");
        });
  }

  /**
   * Refuses options of other reads for a stream.
   *
   * @param own the options without the session's defaults
   * @param shared options of other reads that a stream obeys as well
   */
  static void requireOfStreams(CaseInsensitiveStringMap own, Collection<String> shared) {
    Set<String> known = new TreeSet<>(OF_STREAMS);
    known.addAll(shared);
    own.asCaseSensitiveMap().keySet().stream()
        .filter(key -> isAmong(key, READ, Set.of()) && !isAmong(key, known, Set.of()))
        .findFirst()
        .ifPresent(key -> {
          throw new IllegalArgumentException("Option " + key + " does not go with a stream, whose"
              + " options are " + String.join(", ", known) + "; leave it out, or use spark.read");
        });
  }

  /** Refuses options of records, except the session's defaults, which are for other reads. */
  static void requireOfViews(CaseInsensitiveStringMap options) {
    requireKnownForReading(options);
    requireOfBatches(SessionDefaults.removedFrom(options));
    for (String key : SessionDefaults.removedFrom(options).asCaseSensitiveMap().keySet()) {
      if (isAmong(key, READ, Set.of()) && !isAmong(key, OF_VIEWS, Set.of())) {
        throw new IllegalArgumentException("Option " + key
            + " does not go with a metadata table, which has no records; leave the option out");
      }
    }
  }

  /**
   * Refuses options of reads that do not go with a read of changes. Those of streams are not looked
   * at: Spark does not say whether there is a stream before it has planned the scan.
   *
   * @param own the options without the session's defaults
   */
  static void requireOfChanges(CaseInsensitiveStringMap own) {
    notOfChanges(own).ifPresent(key -> {
      throw new IllegalArgumentException("Option " + key + " has the value '" + own.get(key)
          + "', and does not go with the changes of versions, whose options are "
          + String.join(", ", new TreeSet<>(OF_CHANGES)) + "; leave " + key + " out");
    });
  }

  /** Returns an option of other reads that does not go with a read of changes, if there is one. */
  static Optional<String> notOfChanges(CaseInsensitiveStringMap own) {
    return own.asCaseSensitiveMap().keySet().stream()
        .filter(key -> isAmong(key, READ, Set.of())
            && !isAmong(key, OF_STREAMS, Set.of())
            && !isAmong(key, OF_CHANGES, Set.of()))
        .findFirst();
  }

  /**
   * Refuses options that select changes for a read of records.
   *
   * @param own the options without the session's defaults
   */
  static void requireOfRecords(CaseInsensitiveStringMap own) {
    own.asCaseSensitiveMap().forEach((key, value) -> {
      if (isAmong(key, SELECTORS_OF_CHANGES, Set.of())) {
        throw new IllegalArgumentException("Option " + key + " has the value '" + value
            + "', and does not go with this read; use spark.read.option(\""
            + ZRecordOptions.CHANGES_FROM
            + "\", …).load(path), or table(name) in a session with the"
            + " extension io.zrecord.spark.ZRecordSessionExtensions, and in a stream "
            + ZRecordOptions.READ_CHANGES);
      }
    });
  }

  static void requireKnownForWriting(CaseInsensitiveStringMap options) {
    requireKnown("write", options, WRITE, WRITE_PREFIXES, SELECTORS);
  }

  /** Tells whether a table may keep an option for all its writes. */
  static boolean isOfAllWrites(String key) {
    return !key.equalsIgnoreCase(ZRecordOptions.PATH)
        && !isOfOneWrite(key)
        && isAmong(key, WRITE, WRITE_PREFIXES);
  }

  /** Tells whether a property of a table may say an option for all writes of the table. */
  static boolean isOfTables(String key) {
    return isOfAllWrites(key)
        && !key.equalsIgnoreCase(ZRecordOptions.UNKNOWN_OPTIONS)
        && !isAmong(key, Set.of(), Set.of(ZRecordOptions.SHAPE_OF));
  }

  /** Returns the options that properties of a table may say, for messages. */
  static String namesOfTables() {
    return Stream.concat(WRITE.stream(), Stream.of(ZRecordOptions.COMPRESSION_OF + "<field>"))
        .filter(KnownOptions::isOfTables)
        .sorted()
        .collect(Collectors.joining(", "));
  }

  /** Tells whether an option says something of one write. */
  static boolean isOfOneWrite(String key) {
    return isAmong(key, OF_ONE_WRITE, Set.of());
  }

  /** Checks the options of a read or write. Never ignores the options in {@code refused}. */
  private static void requireKnown(
      String action,
      CaseInsensitiveStringMap options,
      Set<String> known,
      Set<String> prefixes,
      Set<String> refused) {
    boolean ignores = UnknownOptions.of(options) == UnknownOptions.IGNORE;
    CaseInsensitiveStringMap own = SessionDefaults.removedFrom(options);
    List<String> unknown = new ArrayList<>();
    for (String key : options.asCaseSensitiveMap().keySet()) {
      // A default of the session may be meant for the other direction.
      boolean tolerated = isAmong(key, known, prefixes)
          || isAmong(key, SPARK, Set.of())
          || StorageSettings.isSetting(key)
          || (ignores && !isAmong(key, refused, Set.of()))
          || (!own.containsKey(key)
              && (isAmong(key, READ, Set.of()) || isAmong(key, WRITE, WRITE_PREFIXES)));
      if (!tolerated) {
        unknown.add(key);
      }
    }
    if (!unknown.isEmpty()) {
      Set<String> names = new TreeSet<>(known);
      names.remove(ZRecordOptions.UNKNOWN_OPTIONS);
      prefixes.forEach(prefix -> names.add(prefix + "<field>"));
      throw new IllegalArgumentException("Cannot " + action + " zrecord with unknown option"
          + (unknown.size() == 1 ? " " : "s ") + String.join(", ", unknown) + "; the options to "
          + action + " are " + String.join(", ", names) + ", settings of Hadoop (fs.*), and "
          + ZRecordOptions.UNKNOWN_OPTIONS
          + "=ignore skips those of other sources");
    }
  }

  private static boolean isAmong(String key, Set<String> names, Set<String> prefixes) {
    String folded = key.toLowerCase(Locale.ROOT);
    return names.stream().anyMatch(key::equalsIgnoreCase)
        || prefixes.stream()
            .anyMatch(prefix -> folded.startsWith(prefix) && folded.length() > prefix.length());
  }
}
