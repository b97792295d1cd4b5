package io.zrecord.inspect;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A version of a table, by its manifest. Fields left by the version's writer are informative and
 * only as true as the writer. They are empty where they are missing or make no sense.
 *
 * @param version number of the version
 * @param timestamp time of the commit
 * @param operation what the commit did, such as {@code append}
 * @param applicationId of the writer, such as a Spark application
 * @param user the user who committed
 * @param addedRecords records that the commit added
 * @param addedBytes bytes of the chunks that the commit added
 * @param removedRecords records that the commit removed
 * @param removedBytes bytes of the chunks that the commit left out
 * @param recordCount records of the version
 * @param shardCount shards of the version
 * @param tags tags of the version, by name
 * @param properties everything that the writer left
 * @param commitId identity of the commit
 * @param parent number of the version before, which may have been expired; empty for the first
 *     version of the table
 * @param transactions last transaction number of each application, up to this version
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
    Map<String, String> properties,
    UUID commitId,
    OptionalLong parent,
    Map<String, Long> transactions) {
  public VersionEntry {
    tags = List.copyOf(tags);
    properties = Map.copyOf(properties);
    transactions = Map.copyOf(transactions);
  }
}
