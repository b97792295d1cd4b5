package io.zrecord.inspect;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A version of a table, by its manifest. What its writer left is informative, and as true as the writer: empty where it is not there or
 * makes no sense.
 *
 * @param version its number
 * @param timestamp when it was committed
 * @param operation what the commit did, such as {@code append}
 * @param applicationId of the Spark application, say
 * @param user who did it
 * @param addedRecords records that the commit added
 * @param addedBytes bytes of the chunks that it added
 * @param removedRecords records that it removed
 * @param removedBytes bytes of the chunks that it left out
 * @param recordCount records of the version
 * @param shardCount shards of the version
 * @param tags its tags, by name
 * @param properties all that the writer left
 */
public record VersionEntry(
    long version,
    Instant timestamp,
    String operation,
    Optional<String> applicationId,
    Optional<String> user,
    OptionalLong addedRecords,
    OptionalLong addedBytes,
    OptionalLong removedRecords,
    OptionalLong removedBytes,
    long recordCount,
    long shardCount,
    List<String> tags,
    Map<String, String> properties) {
  public VersionEntry {
    tags = List.copyOf(tags);
    properties = Map.copyOf(properties);
  }
}
