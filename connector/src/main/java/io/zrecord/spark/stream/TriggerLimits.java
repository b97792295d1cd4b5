package io.zrecord.spark.stream;

import io.zrecord.spark.options.StreamReadConf;
import java.util.OptionalLong;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;

/**
 * The most that a batch delivers. Spark hands this back for each batch that is to obey the limits.
 *
 * @param records the most records
 * @param bytes the most stored bytes, unless one record is larger
 * @param shards the most shards
 * @param versions the most versions
 */
record TriggerLimits(
    OptionalLong records, OptionalLong bytes, OptionalLong shards, OptionalLong versions)
    implements ReadLimit {
  static final TriggerLimits NONE = new TriggerLimits(
      OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());

  static TriggerLimits of(StreamReadConf conf) {
    return new TriggerLimits(
        conf.maxRecords(),
        // The bytes of changes are not known. A default of the session is for other streams.
        conf.readsChanges() ? OptionalLong.empty() : conf.maxBytes(),
        conf.maxShards(),
        conf.maxVersions());
  }
}
