package io.zrecord.spark.options;

import io.zrecord.read.IndexSet;
import io.zrecord.read.Verification;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.apache.spark.network.util.JavaUtils;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** The options of a read, parsed once on the driver. Unknown options and values are refused. */
public final class ReadConf {
  /**
   * Rows of a batch: enough to pay for the work of each batch, and few enough for the batch's
   * columns to stay in the cache.
   */
  private static final long DEFAULT_BATCH_ROWS = 8192;

  private static final long DEFAULT_BATCH_BYTES = 2L << 20;
  private static final long MAX_BATCH_ROWS = 1 << 20;
  private static final long MAX_BATCH_BYTES = 1L << 30;
  private static final long MAX_PARTITIONS = 1_000_000;

  private final CaseInsensitiveStringMap options;

  private ReadConf(CaseInsensitiveStringMap options) {
    this.options = options;
  }

  /** Returns the configuration of a read without options, whatever the defaults of the session. */
  public static ReadConf ofNoOptions() {
    return new ReadConf(CaseInsensitiveStringMap.empty());
  }

  /** Tells whether options let paths be patterns, which is the default. */
  public static boolean readsPatterns(CaseInsensitiveStringMap options) {
    String text = options.getOrDefault(ZRecordOptions.GLOB_PATHS, "true");
    return OptionValue.bool(ZRecordOptions.GLOB_PATHS, text);
  }

  /** Tells whether the session's defaults let paths be patterns. */
  public static boolean readsPatternsByDefault() {
    return readsPatterns(SessionDefaults.all());
  }

  /** Returns the session's defaults that select which records are read, and in which order. */
  public static Map<String, String> defaultsOfRecords() {
    return SessionDefaults.ofRecords();
  }

  /**
   * Parses the options of a read of records, and adds the session's defaults.
   *
   * @param defaultsOfRecords those of {@link #defaultsOfRecords} when the table was loaded: Spark
   *     takes one loaded table for all reads of a cached one, so later defaults must not count
   */
  public static ReadConf ofRecords(
      CaseInsensitiveStringMap own, Map<String, String> defaultsOfRecords) {
    CaseInsensitiveStringMap options = SessionDefaults.addedTo(own, defaultsOfRecords);
    KnownOptions.requireKnownForReading(options);
    if (options.containsKey(ZRecordOptions.VIEW)) {
      // The columns of a table are known before the options of a statement are.
      throw new IllegalArgumentException("Option " + ZRecordOptions.VIEW
          + " goes with spark.read.format(\"zrecord\").load(path); name the metadata table in SQL,"
          + " such as lake.vision.photos.versions or zrecord.`/data/train`.versions");
    }
    // Spark adds the session's defaults to the options of a path, and not to those of a name.
    boolean isByName =
        !own.containsKey(ZRecordOptions.PATH) && !own.containsKey(ZRecordOptions.PATHS);
    KnownOptions.requireOfRecords(isByName ? own : SessionDefaults.removedFrom(options));
    ReadConf conf = new ReadConf(options);
    conf.requireParsed();
    return conf;
  }

  /** Parses the options of a read of changes, and adds the session's defaults. */
  public static ReadConf ofChanges(CaseInsensitiveStringMap own) {
    CaseInsensitiveStringMap options = SessionDefaults.addedTo(own);
    KnownOptions.requireKnownForReading(options);
    KnownOptions.requireOfChanges(SessionDefaults.removedFrom(own));
    ReadConf conf = new ReadConf(options);
    conf.batchRows();
    conf.batchBytes();
    conf.verification();
    readsPatterns(options);
    return conf;
  }

  /**
   * Refuses options of streams, for a read that is none. Spark plans the scan of a stream as that
   * of any read at first.
   */
  public void requireBatch() {
    KnownOptions.requireOfBatches(SessionDefaults.removedFrom(options));
  }

  /** Parses all values but the indices, whether or not the scan looks at each of them. */
  private void requireParsed() {
    sampler();
    partitionCount();
    batchRows();
    batchBytes();
    usesStatistics();
    verification();
    readsPatterns(options);
  }

  /**
   * Parses the options of a read of a metadata table, and adds the session's defaults.
   *
   * @param loaded the metadata table
   */
  public static ReadConf ofView(CaseInsensitiveStringMap own, ViewName loaded) {
    CaseInsensitiveStringMap options = SessionDefaults.addedTo(own);
    KnownOptions.requireOfViews(options);
    String asked = own.get(ZRecordOptions.VIEW);
    if (asked != null && OptionValue.parse(ZRecordOptions.VIEW, asked, ViewName::of) != loaded) {
      throw new IllegalArgumentException("Option " + ZRecordOptions.VIEW + " is " + asked
          + ", but the statement names the metadata table " + loaded + "; leave the option out");
    }
    ReadConf conf = new ReadConf(options);
    conf.partitionCount();
    readsPatterns(options);
    return conf;
  }

  /**
   * Returns the records that the option asks for. A condition on {@code _index} does the same, but
   * Spark's planner takes long for thousands of literals.
   *
   * @param length number of records of the dataset
   */
  public IndexSet indices(long length) {
    String text = options.get(ZRecordOptions.INDICES);
    return text == null
        ? IndexSet.range(0, length)
        : OptionValue.parse(ZRecordOptions.INDICES, text, list -> indices(list, length));
  }

  private static IndexSet indices(String text, long length) {
    String[] items = text.strip().isEmpty() ? new String[0] : text.split(",", -1);
    long[] indices = new long[items.length];
    for (int i = 0; i < items.length; i++) {
      String item = items[i].strip();
      try {
        indices[i] = Long.parseLong(item);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException(
            "'" + item + "' is no index; use numbers separated by commas, such as 5,1,99", e);
      }
      if (indices[i] < 0 || indices[i] >= length) {
        throw new IllegalArgumentException("there is no record " + item + "; the dataset has "
            + length + " records, with indices from 0 to " + (length - 1));
      }
    }
    return IndexSet.of(indices);
  }

  /** Returns the options of the sampler in whose order to read. */
  public SamplerOptions sampler() {
    return new SamplerOptions(options);
  }

  /** Returns the number of partitions asked for; 0 lets the planner choose. */
  public int partitionCount() {
    return options.containsKey(ZRecordOptions.NUM_PARTITIONS)
        ? (int) number(ZRecordOptions.NUM_PARTITIONS, 0, 1, MAX_PARTITIONS)
        : 0;
  }

  public int batchRows() {
    return (int) number(ZRecordOptions.BATCH_ROWS, DEFAULT_BATCH_ROWS, 1, MAX_BATCH_ROWS);
  }

  /**
   * Returns the greatest number of bytes of one column in a batch, both stored and decompressed. A
   * single value may be larger.
   */
  public long batchBytes() {
    return number(ZRecordOptions.BATCH_BYTES, DEFAULT_BATCH_BYTES, 1, MAX_BATCH_BYTES);
  }

  /** Tells whether conditions on values pass over records by statistics. */
  public boolean usesStatistics() {
    String text = options.getOrDefault(ZRecordOptions.STATISTICS, "true");
    return OptionValue.bool(ZRecordOptions.STATISTICS, text);
  }

  public Verification verification() {
    String text = options.getOrDefault(ZRecordOptions.VERIFY, Verification.FIRST.name());
    return OptionValue.parse(ZRecordOptions.VERIFY, text, name -> {
      for (Verification verification : Verification.values()) {
        if (verification.name().equalsIgnoreCase(name.strip())) {
          return verification;
        }
      }
      throw new IllegalArgumentException(
          "use one of " + Arrays.toString(Verification.values()).toLowerCase(Locale.ROOT));
    });
  }

  private long number(String key, long otherwise, long lowest, long highest) {
    String text = options.get(key);
    if (text == null) {
      return otherwise;
    }
    return OptionValue.parse(key, text, value -> {
      long number = JavaUtils.byteStringAsBytes(value);
      if (number < lowest || number > highest) {
        throw new IllegalArgumentException("use " + lowest + " to " + highest);
      }
      return number;
    });
  }
}
