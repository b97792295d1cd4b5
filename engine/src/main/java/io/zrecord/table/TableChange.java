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
 * @param commitId unique to this attempt; the manifest carries it, so that an unclear outcome can
 *     be read back
 * @param kind what happens to the shards that are there
 * @param baseTable identity of the table that the change was planned on; empty if there was none
 *     then
 * @param baseVersion the version that the change was planned on; empty if there was no table then
 * @param baseCommit the commit that made it, for a repair may give a number to another one; empty
 *     if the number is to suffice
 * @param schema the fields after the change, with their ids
 * @param shards shards to add at the end, in index order
 * @param transaction key under which the change takes effect once only
 * @param properties informative strings
 * @param replacements runs of shards that are replaced by others with the same records
 * @param indexMap of a relayout: a shard that says where each record of the base went
 *     ({@link IndexMap})
 * @param expectedVersion the version that must be the newest when the change is published, even if
 *     the change would commute with later ones; empty if any may be
 */
public record TableChange(
    UUID commitId,
    Kind kind,
    Optional<UUID> baseTable,
    OptionalLong baseVersion,
    Optional<UUID> baseCommit,
    RecordSchema schema,
    List<ShardSummary> shards,
    Optional<Transaction> transaction,
    Map<String, String> properties,
    List<Replacement> replacements,
    Optional<ShardSummary> indexMap,
    OptionalLong expectedVersion) {

  /** What happens to the shards that are there. */
  public enum Kind {
    /** There must be no table; {@link io.zrecord.errors.DatasetExistsException} otherwise. */
    CREATE,
    /**
     * They stay; the new ones come after them. Creates the table if there is none. Commutes with
     * appends.
     */
    APPEND,
    /**
     * They go. Conflicts with every other commit since the base version. Creates the table if there
     * is none.
     */
    OVERWRITE,
    /**
     * Some neighbouring shards are replaced by others with the same records in the same order.
     * Commutes with appends and with changes of other shards; conflicts if one of the replaced
     * shards is not there any more.
     */
    REBALANCE,
    /**
     * They go, and others come with the same records in another order. Conflicts with every other
     * commit since the base version.
     */
    RELAYOUT
  }

  private static final int MAX_KEY_LENGTH = 1024;
  private static final int MAX_VALUE_LENGTH = 1 << 16;

  public TableChange {
    shards = List.copyOf(shards);
    properties = Map.copyOf(properties);
    replacements = List.copyOf(replacements);
    boolean replaces = kind == Kind.REBALANCE;
    if (replaces == replacements.isEmpty() || (replaces && !shards.isEmpty())) {
      throw new IllegalArgumentException("A change of kind " + kind + " with " + shards.size()
          + " shards to add and " + replacements.size()
          + " replacements is not possible: a rebalance replaces, other kinds add");
    }
    if ((kind == Kind.RELAYOUT) != indexMap.isPresent()) {
      throw new IllegalArgumentException("A change of kind " + kind
          + (indexMap.isPresent() ? " has" : " lacks")
          + " an index map; a relayout has one, other kinds have none");
    }
    properties.forEach((key, value) -> {
      requireLength("The name of a property", key, MAX_KEY_LENGTH);
      requireLength("Property '" + key + "'", value, MAX_VALUE_LENGTH);
    });
  }

  /** A change that adds shards. */
  public TableChange(
      UUID commitId,
      Kind kind,
      Optional<UUID> baseTable,
      OptionalLong baseVersion,
      RecordSchema schema,
      List<ShardSummary> shards,
      Optional<Transaction> transaction,
      Map<String, String> properties) {
    this(
        commitId,
        kind,
        baseTable,
        baseVersion,
        Optional.empty(),
        schema,
        shards,
        transaction,
        properties,
        List.of(),
        Optional.empty(),
        OptionalLong.empty());
  }

  /**
   * A change that adds shards.
   *
   * @param base the version that the change was planned on; empty if there was no table then
   */
  public TableChange(
      UUID commitId,
      Kind kind,
      Optional<TableSnapshot> base,
      RecordSchema schema,
      List<ShardSummary> shards,
      Optional<Transaction> transaction,
      Map<String, String> properties) {
    this(
        commitId,
        kind,
        base.map(TableSnapshot::tableId),
        base.map(version -> OptionalLong.of(version.version())).orElse(OptionalLong.empty()),
        base.map(TableSnapshot::commitId),
        schema,
        shards,
        transaction,
        properties,
        List.of(),
        Optional.empty(),
        OptionalLong.empty());
  }

  /**
   * Returns the same change, which takes effect only if a version is the newest one then.
   *
   * @param version the newest version that the change may follow
   */
  public TableChange expecting(long version) {
    return new TableChange(
        commitId,
        kind,
        baseTable,
        baseVersion,
        baseCommit,
        schema,
        shards,
        transaction,
        properties,
        replacements,
        indexMap,
        OptionalLong.of(version));
  }

  /**
   * A change that replaces shards of a version.
   *
   * @param seenVersion a version at or behind the base up to which nothing needs to be looked at
   *     again
   * @param schema fields whose compressions become those of the table
   */
  public static TableChange rebalance(
      TableSnapshot base,
      long seenVersion,
      RecordSchema schema,
      List<Replacement> replacements,
      Map<String, String> properties) {
    return new TableChange(
        UUID.randomUUID(),
        Kind.REBALANCE,
        Optional.of(base.tableId()),
        OptionalLong.of(Math.max(seenVersion, base.version())),
        Optional.empty(),
        schema,
        List.of(),
        Optional.empty(),
        properties,
        replacements,
        Optional.empty(),
        OptionalLong.empty());
  }

  /**
   * A change that puts all records of a version into another order.
   *
   * @param shards with as many records as the version has
   * @param indexMap a shard as {@link IndexMap} reads it, of the same length
   */
  public static TableChange relayout(
      TableSnapshot base,
      List<ShardSummary> shards,
      ShardSummary indexMap,
      Map<String, String> properties) {
    long length = shards.stream().mapToLong(ShardSummary::length).sum();
    if (length != base.length() || indexMap.length() != length) {
      throw new IllegalArgumentException("Cannot put " + base + " with " + base.length()
          + " records into another order: the new shards have " + length + ", the index map has "
          + indexMap.length() + "; both must have as many");
    }
    return new TableChange(
        UUID.randomUUID(),
        Kind.RELAYOUT,
        Optional.of(base.tableId()),
        OptionalLong.of(base.version()),
        Optional.of(base.commitId()),
        base.schema(),
        shards,
        Optional.empty(),
        properties,
        List.of(),
        Optional.of(indexMap),
        OptionalLong.empty());
  }

  /** Whether shards that are there may stay. */
  boolean keepsShards() {
    return kind != Kind.OVERWRITE && kind != Kind.RELAYOUT;
  }

  /** The shards that the change brings. */
  List<ShardSummary> newShards() {
    return kind == Kind.REBALANCE
        ? replacements.stream().flatMap(run -> run.added().stream()).toList()
        : shards;
  }

  /**
   * A run of shards and what takes its place.
   *
   * @param removed neighbours in a version, in index order, at least one
   * @param added with as many records, in index order
   */
  public record Replacement(List<ShardSummary> removed, List<ShardSummary> added) {
    public Replacement {
      removed = List.copyOf(removed);
      added = List.copyOf(added);
      long before = removed.stream().mapToLong(ShardSummary::length).sum();
      long after = added.stream().mapToLong(ShardSummary::length).sum();
      if (removed.isEmpty() || before != after) {
        throw new IllegalArgumentException("Cannot replace " + removed.size() + " shards with "
            + before + " records by " + added.size() + " with " + after
            + ": there must be at least one, and as many records as before");
      }
    }
  }

  private static void requireLength(String what, String text, int most) {
    if (text.length() > most) {
      throw new IllegalArgumentException(what + " has " + text.length() + " characters; at most "
          + most + " are kept in a manifest");
    }
  }

  /**
   * An application's name and its rising number: the same or a lower number again has no effect.
   *
   * @param applicationId 1 to 1,024 characters
   * @param number ≥ 0
   */
  public record Transaction(String applicationId, long number) {
    public Transaction {
      if (applicationId.isEmpty() || number < 0) {
        throw new IllegalArgumentException("Transaction " + number + " of application '"
            + applicationId + "' is not allowed: the number is >= 0, and the name not empty");
      }
      requireLength("The name of an application", applicationId, MAX_KEY_LENGTH);
    }
  }
}
