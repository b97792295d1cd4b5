package io.zrecord.table;

import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * What a commit does.
 *
 * @param commitId unique to this attempt; the manifest carries it, so that an unclear outcome can be read back
 * @param kind what happens to the shards that are there
 * @param baseVersion the version that the change was planned on; empty if there was no table then
 * @param schema the fields after the change, with their ids
 * @param shards shards to add, in index order
 * @param transaction key under which the change takes effect once only
 * @param properties informative strings
 */
public record TableChange(
    UUID commitId,
    Kind kind,
    OptionalLong baseVersion,
    RecordSchema schema,
    List<ShardSummary> shards,
    Optional<Transaction> transaction,
    Map<String, String> properties) {

  /** What happens to the shards that are there. */
  public enum Kind {
    /** There must be no table; {@link io.zrecord.errors.DatasetExistsException} otherwise. */
    CREATE,
    /** They stay; the new ones come after them. Creates the table if there is none. Commutes with appends. */
    APPEND,
    /** They go. Conflicts with every other commit since the base version. Creates the table if there is none. */
    OVERWRITE
  }

  /** An application's name and its rising number: the same or a lower number again has no effect. */
  public record Transaction(String applicationId, long number) {}
}
