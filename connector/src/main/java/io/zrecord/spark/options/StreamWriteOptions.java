package io.zrecord.spark.options;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/** Checks the options of a stream into a table. Stateless. */
public final class StreamWriteOptions {
  /** Options that Spark takes for itself, and passes on. */
  private static final List<String> OF_SPARK = List.of("checkpointLocation", "queryName");

  private static final List<String> OF_TRANSACTIONS =
      List.of(ZRecordOptions.TXN_APP_ID, ZRecordOptions.TXN_VERSION);

  private StreamWriteOptions() {}

  /**
   * Checks the options of a stream.
   *
   * @return those that each epoch has
   * @throws IllegalArgumentException if an option is unknown, or not one of streams
   */
  public static CaseInsensitiveStringMap ofEpochs(CaseInsensitiveStringMap options) {
    Map<String, String> own = new HashMap<>(options.asCaseSensitiveMap());
    own.keySet().removeIf(key -> OF_SPARK.stream().anyMatch(key::equalsIgnoreCase));
    CaseInsensitiveStringMap all = SessionDefaults.addedTo(new CaseInsensitiveStringMap(own));
    refuse(all, OF_TRANSACTIONS, "its epochs are transactions of their own");
    refuse(all, List.of(ZRecordOptions.EXPECTED_VERSION), "each of its epochs makes a version");
    return new CaseInsensitiveStringMap(own);
  }

  private static void refuse(CaseInsensitiveStringMap options, List<String> keys, String reason) {
    keys.stream().filter(options::containsKey).findFirst().ifPresent(key -> {
      throw new IllegalArgumentException("Option " + key + " does not go with a stream: " + reason
          + "; leave it out of the options and of the session's defaults, or write by"
          + " foreachBatch");
    });
  }
}
