package io.zrecord.table;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Says what a commit does. Immutable.
 *
 * @param commitId unique to this attempt; the manifest carries it, so that an unclear outcome can
 *     be read back
 * @param kind what happens to the shards that are there
 * @param baseTable identity of the table that the change was planned on; empty if there was none
 *     then
 * @param baseVersion the version that the change was planned on; empty if there was no table then
 * @param baseCommit the commit that made the records of that version
 *     ({@link TableSnapshot#recordsCommitId}), because a repair may give its number to another
 *     commit; empty if the number is enough
 * @param schema the fields after the change, with their ids
 * @param shards shards to add at the end, in index order
 * @param transaction key under which the change takes effect once only
 * @param properties informative strings
 * @param replacements runs of shards that are replaced by others with the same records
 * @param indexMap for a relayout, a shard that says where each record of the base went
 *     ({@link IndexMap})
 * @param expectedVersion the version that must be the newest, except for tags and expiries, when
 *     the change is published, even if the change would commute with later versions; empty if any
 *     version may be
 * @param isolation which commits since the base a change must not follow that deletes, updates or
 *     merges; {@link Isolation#SNAPSHOT} for other kinds, which say it themselves
 * @param partitions ids of the fields by which a table that the change creates, or whose records it
 *     replaces, is partitioned; for other changes the table keeps its own
 * @param declarations what a table declares that the change creates, or whose records it replaces;
 *     empty if the table keeps what it declares
 * @param evaluated the checks of which the caller knows that they are not false for any new record
 * @param assigned the identities of which each new record has a number that was reserved, or, by
 *     default, one of its own
 * @param owned files, relative to the table, that no version up to the base names: patches of these
 *     are deleted where the commit writes others in their place, and no version since names them
 * @param replacedPartitions tells of the values of a partition whether the change replaces all its
 *     records, so that no other records may have come into it since the base; empty if the change
 *     replaces no partitions
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
    OptionalLong expectedVersion,
    Isolation isolation,
    List<Integer> partitions,
    Optional<Declarations> declarations,
    List<Constraint> evaluated,
    List<Identity> assigned,
    Set<String> owned,
    Optional<Predicate<List<@Nullable String>>> replacedPartitions) {

  /** Says what happens to the shards that are there. */
  public enum Kind {
    /**
     * Requires that there is no table; {@link io.zrecord.errors.DatasetExistsException} otherwise.
     */
    CREATE,
    /**
     * Keeps the shards, and adds new ones after them. Creates the table if there is none. Commutes
     * with appends.
     */
    APPEND,
    /**
     * Removes the shards. Conflicts with every other change of records since the base version.
     * Creates the table if there is none.
     */
    OVERWRITE,
    /**
     * Replaces some neighbouring shards by others with the same records in the same order. Commutes
     * with appends and with changes of other shards. Conflicts if one of the replaced shards is not
     * there any more.
     */
    REBALANCE,
    /**
     * Replaces all shards by others with the same records in another order. Conflicts with every
     * other change of records since the base version.
     */
    RELAYOUT,
    /**
     * Deletes records of some shards ({@link RowChange}). Commutes with every change that leaves
     * these shards alone.
     */
    DELETE,
    /** Changes values of some shards, and may delete records; otherwise like {@link #DELETE}. */
    UPDATE,
    /**
     * Deletes and changes records of some shards, or writes them again in their place, and adds new
     * shards after all others. Commutes like {@link #UPDATE}.
     */
    MERGE;

    /** Tells whether the change may replace shards, and keeps all others. */
    boolean replaces() {
      return this == REBALANCE || this == DELETE || this == UPDATE || this == MERGE;
    }
  }

  /** Says which commits since its base a change of records must not follow. */
  public enum Isolation {
    /** Those that changed the same shards. */
    SNAPSHOT,
    /**
     * Those that added or changed any records: the change depends on records that it read, besides
     * those that it changes.
     */
    SERIALIZABLE
  }

  private static final int MAX_KEY_LENGTH = 1024;
  private static final int MAX_VALUE_LENGTH = 1 << 16;

  public TableChange {
    shards = List.copyOf(shards);
    properties = Map.copyOf(properties);
    replacements = List.copyOf(replacements);
    partitions = List.copyOf(partitions);
    evaluated = List.copyOf(evaluated);
    assigned = List.copyOf(assigned);
    owned = Set.copyOf(owned);
    boolean isPossible = kind == Kind.MERGE
        ? !replacements.isEmpty() || !shards.isEmpty()
        : kind.replaces() ? !replacements.isEmpty() && shards.isEmpty() : replacements.isEmpty();
    if (!isPossible) {
      throw new IllegalArgumentException("A change of kind " + kind + " with " + shards.size()
          + " shards to add and " + replacements.size() + " replacements is not possible: a merge"
          + " adds or replaces, a rebalance, a deletion and an update replace, other kinds add");
    }
    if (kind == Kind.MERGE && baseVersion.isEmpty()) {
      throw new IllegalArgumentException(
          "A merge changes a table that there is; name its base, or create the table");
    }
    boolean isChosen =
        kind == Kind.APPEND ? baseVersion.isPresent() : kind.replaces() && kind != Kind.REBALANCE;
    if (isolation == Isolation.SERIALIZABLE && !isChosen) {
      throw new IllegalArgumentException("A change of kind " + kind + " has no isolation to choose;"
          + " deletions, updates, merges, and appends to a table that there is have");
    }
    if (kind == Kind.REBALANCE && replacements.stream().anyMatch(run -> run.deletedRecords() > 0)) {
      throw new IllegalArgumentException(
          "A rebalance must put as many records in the place of those that it replaces");
    }
    if ((kind == Kind.RELAYOUT) != indexMap.isPresent()) {
      throw new IllegalArgumentException("A change of kind " + kind
          + (indexMap.isPresent() ? " has" : " lacks")
          + " an index map; a relayout has one, other kinds have none");
    }
    if (replacedPartitions.isPresent() && kind != Kind.MERGE) {
      throw new IllegalArgumentException(
          "A change of kind " + kind + " replaces no partitions; a merge does");
    }
    properties.forEach((key, value) -> {
      requireLength("The name of a property", key, MAX_KEY_LENGTH);
      requireLength("Property '" + key + "'", value, MAX_VALUE_LENGTH);
    });
  }

  /**
   * Begins a change of a kind.
   *
   * @param schema the fields after the change, with their ids; for a change of rows, the fields
   *     that get values
   */
  public static TableChangeBuilder of(Kind kind, RecordSchema schema) {
    return new TableChangeBuilder(kind, schema);
  }

  /**
   * Returns this change with the condition that a version is the newest when the change is
   * published. Tags and expiries may come after that version.
   *
   * @param version the newest version that the change may follow
   */
  public TableChange expecting(long version) {
    return TableChangeBuilder.of(this).expecting(version).build();
  }

  /**
   * Returns this change with partition fields, for a table that it creates or whose records it
   * replaces.
   */
  public TableChange partitionedBy(List<Integer> fieldIds) {
    return TableChangeBuilder.of(this).partitionedBy(fieldIds).build();
  }

  /**
   * Makes a change that replaces shards of a version.
   *
   * @param seenVersion a version up to which nothing needs to be looked at again; the base if the
   *     base is newer
   * @param schema fields whose compressions become those of the table
   */
  public static TableChange rebalance(
      TableSnapshot base,
      long seenVersion,
      RecordSchema schema,
      List<Replacement> replacements,
      Map<String, String> properties) {
    return of(Kind.REBALANCE, schema)
        .baseTable(base.tableId(), Math.max(seenVersion, base.version()))
        .replacements(replacements)
        .properties(properties)
        .build();
  }

  /**
   * Makes a change that puts all records of a version into another order.
   *
   * @param shards shards that together have as many records as the version
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
    return of(Kind.RELAYOUT, base.schema())
        .base(base)
        .shards(shards)
        .indexMap(indexMap)
        .properties(properties)
        .build();
  }

  /**
   * Makes a change of records of some shards.
   *
   * @param kind {@link Kind#DELETE} or {@link Kind#UPDATE}
   * @param changed the fields that get values
   */
  static TableChange rows(
      TableSnapshot base,
      Kind kind,
      RecordSchema changed,
      List<Replacement> replacements,
      Map<String, String> properties) {
    return of(kind, changed)
        .base(base)
        .replacements(replacements)
        .properties(properties)
        .build();
  }

  /** Returns whether shards that are there may stay. */
  boolean keepsShards() {
    return kind != Kind.OVERWRITE && kind != Kind.RELAYOUT;
  }

  /** Returns the shards that the change brings. */
  List<ShardSummary> newShards() {
    return Stream.concat(
            replacements.stream().flatMap(run -> run.added().stream()), shards.stream())
        .toList();
  }

  /** Returns how many records of the replaced shards are deleted. */
  long deletedRecords() {
    return replacements.stream().mapToLong(Replacement::deletedRecords).sum();
  }

  /** Returns the files of {@link #newShards} that versions before name. */
  Set<UUID> knownFiles() {
    return Replacement.filesBefore(replacements);
  }

  /**
   * Names a run of shards and what takes its place.
   *
   * @param removed neighbours in a version, in index order, at least one
   * @param added shards that together have as many records, in index order; fewer if records are
   *     deleted
   */
  public record Replacement(List<ShardSummary> removed, List<ShardSummary> added) {
    public Replacement {
      removed = List.copyOf(removed);
      added = List.copyOf(added);
      long before = removed.stream().mapToLong(ShardSummary::length).sum();
      long after = added.stream().mapToLong(ShardSummary::length).sum();
      if (removed.isEmpty() || before < after) {
        throw new IllegalArgumentException("Cannot replace " + removed.size() + " shards with "
            + before + " records by " + added.size() + " with " + after
            + ": there must be at least one, and not more records than before");
      }
    }

    /** Makes the replacement of a shard by the shard with other records. */
    static Replacement ofRows(ShardSummary shard, List<ShardSummary> changed) {
      return new Replacement(List.of(shard), changed);
    }

    private long deletedRecords() {
      return removed.stream().mapToLong(ShardSummary::length).sum()
          - added.stream().mapToLong(ShardSummary::length).sum();
    }

    /** Returns the files of the replaced shards, which are there before the change. */
    static Set<UUID> filesBefore(List<Replacement> runs) {
      Set<UUID> files = new HashSet<>();
      runs.stream().flatMap(run -> run.removed.stream()).forEach(shard -> {
        shard.chunks().forEach(chunk -> files.add(chunk.id()));
        shard.tables().forEach(tables -> files.add(tables.id()));
        PatchRef patch = shard.patch();
        if (patch != null) {
          files.add(patch.id());
        }
      });
      return files;
    }
  }

  private static void requireLength(String what, String text, int most) {
    if (text.length() > most) {
      throw new IllegalArgumentException(what + " has " + text.length() + " characters; at most "
          + most + " are kept in a manifest");
    }
  }

  /**
   * Names an application and a rising number of it. A number that is not above the last one has no
   * effect.
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
