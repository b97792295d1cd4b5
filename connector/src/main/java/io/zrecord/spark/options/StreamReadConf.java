package io.zrecord.spark.options;

import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The options of a stream out of a table, parsed once on the driver. */
public final class StreamReadConf {
  /** Options of reads that a stream obeys as well. */
  private static final List<String> SHARED = List.of(
      ZRecordOptions.PATH,
      ZRecordOptions.VERIFY,
      ZRecordOptions.BATCH_ROWS,
      ZRecordOptions.BATCH_BYTES,
      ZRecordOptions.UNKNOWN_OPTIONS);

  /** Options that say where a stream begins. */
  private static final List<String> STARTS =
      List.of(ZRecordOptions.STARTING_VERSION, ZRecordOptions.STARTING_TIMESTAMP);

  private final CaseInsensitiveStringMap options;

  private StreamReadConf(CaseInsensitiveStringMap options) {
    this.options = options;
  }

  /**
   * Parses the options of a stream, and adds the session's defaults.
   *
   * @throws IllegalArgumentException if an option is unknown, or not one of streams
   */
  public static StreamReadConf of(CaseInsensitiveStringMap own) {
    KnownOptions.requireOfStreams(SessionDefaults.removedFrom(own), SHARED);
    CaseInsensitiveStringMap statement = SessionDefaults.removedFrom(own);
    Map<String, String> all = new HashMap<>(SessionDefaults.addedTo(own).asCaseSensitiveMap());
    if (STARTS.stream().anyMatch(statement::containsKey)) {
      // A stream that says itself where it begins does so, whatever the defaults.
      all.keySet()
          .removeIf(key ->
              STARTS.stream().anyMatch(key::equalsIgnoreCase) && !statement.containsKey(key));
    }
    StreamReadConf conf = new StreamReadConf(new CaseInsensitiveStringMap(all));
    conf.startsWithNew();
    conf.startingVersion();
    conf.startingTime();
    conf.requireOneStart();
    conf.skipsChanges();
    conf.maxRecords();
    conf.maxBytes();
    conf.maxShards();
    conf.maxVersions();
    if (conf.readsChanges()) {
      requireOfChanges(SessionDefaults.removedFrom(own));
    }
    return conf;
  }

  private static void requireOfChanges(CaseInsensitiveStringMap own) {
    refuse(
        own,
        ZRecordOptions.SKIP_CHANGE_COMMITS,
        "which gives such versions instead of leaving them out; leave one of them out");
    refuse(
        own,
        ZRecordOptions.MAX_BYTES_PER_TRIGGER,
        "since the bytes of what a version changed are not known before they are read; use "
            + ZRecordOptions.MAX_RECORDS_PER_TRIGGER + ", " + ZRecordOptions.MAX_SHARDS_PER_TRIGGER
            + " or " + ZRecordOptions.MAX_VERSIONS_PER_TRIGGER);
  }

  private static void refuse(CaseInsensitiveStringMap own, String key, String reason) {
    if (own.containsKey(key)) {
      throw new IllegalArgumentException("Option " + key + " has the value '" + own.get(key)
          + "', and does not go with " + ZRecordOptions.READ_CHANGES + "=true, " + reason);
    }
  }

  /**
   * Tells whether options, or the session's defaults, ask for a stream of changes.
   *
   * @throws IllegalArgumentException if the value is neither true nor false
   */
  public static boolean asksForChanges(CaseInsensitiveStringMap own) {
    return new StreamReadConf(SessionDefaults.addedTo(own)).readsChanges();
  }

  /** Tells whether a statement itself asks for a stream of changes, and no default does. */
  public static boolean asksForChangesItself(CaseInsensitiveStringMap options) {
    return new StreamReadConf(SessionDefaults.removedFrom(options)).readsChanges();
  }

  /** Tells whether the stream has what versions changed, and not only what they added. */
  public boolean readsChanges() {
    return value(ZRecordOptions.READ_CHANGES)
        .map(text -> OptionValue.bool(ZRecordOptions.READ_CHANGES, text))
        .orElse(false);
  }

  private void requireOneStart() {
    if (options.containsKey(ZRecordOptions.STARTING_VERSION)
        && options.containsKey(ZRecordOptions.STARTING_TIMESTAMP)) {
      throw new IllegalArgumentException("The options " + ZRecordOptions.STARTING_VERSION + " and "
          + ZRecordOptions.STARTING_TIMESTAMP + " exclude each other; give one of them");
    }
  }

  /** Tells whether the stream begins with what is added after its start. */
  public boolean startsWithNew() {
    return value(ZRecordOptions.STARTING_VERSION)
        .filter(text -> text.strip().equalsIgnoreCase(TimeTravel.NEWEST))
        .isPresent();
  }

  /** Returns the version whose new records are the first of the stream, if one is named. */
  public OptionalLong startingVersion() {
    Optional<String> text = value(ZRecordOptions.STARTING_VERSION);
    return text.isEmpty() || startsWithNew()
        ? OptionalLong.empty()
        : OptionalLong.of(OptionValue.parse(
            ZRecordOptions.STARTING_VERSION, text.get(), StreamReadConf::version));
  }

  private static long version(String text) {
    if (!text.strip().matches("[0-9]{1,18}")) {
      throw new IllegalArgumentException(
          "use the number of a version, such as 5, or " + TimeTravel.NEWEST);
    }
    return Long.parseLong(text.strip());
  }

  /** Returns the time from which on versions are of the stream, if one is given. */
  public Optional<Instant> startingTime() {
    return value(ZRecordOptions.STARTING_TIMESTAMP)
        .map(text -> VersionSelector.instant(ZRecordOptions.STARTING_TIMESTAMP, text));
  }

  /** Tells whether versions that changed or deleted records are left out. */
  public boolean skipsChanges() {
    return value(ZRecordOptions.SKIP_CHANGE_COMMITS)
        .map(text -> OptionValue.bool(ZRecordOptions.SKIP_CHANGE_COMMITS, text))
        .orElse(false);
  }

  /** Returns the greatest number of records of a batch. */
  public OptionalLong maxRecords() {
    return limit(ZRecordOptions.MAX_RECORDS_PER_TRIGGER, Long::parseLong);
  }

  /** Returns the greatest number of stored bytes of a batch, unless one record is larger. */
  public OptionalLong maxBytes() {
    return limit(ZRecordOptions.MAX_BYTES_PER_TRIGGER, JavaUtils::byteStringAsBytes);
  }

  /** Returns the greatest number of shards of a batch. */
  public OptionalLong maxShards() {
    return limit(ZRecordOptions.MAX_SHARDS_PER_TRIGGER, Long::parseLong);
  }

  /** Returns the greatest number of versions of which a batch has records. */
  public OptionalLong maxVersions() {
    return limit(ZRecordOptions.MAX_VERSIONS_PER_TRIGGER, Long::parseLong);
  }

  private OptionalLong limit(String key, ToLongFunction<String> parser) {
    return value(key)
        .map(text -> OptionalLong.of(OptionValue.parse(key, text, number -> {
          long limit = parser.applyAsLong(number);
          if (limit < 1) {
            throw new IllegalArgumentException("use at least 1");
          }
          return limit;
        })))
        .orElse(OptionalLong.empty());
  }

  private Optional<String> value(String key) {
    return Optional.ofNullable(options.get(key));
  }
}
