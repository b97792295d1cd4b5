package io.zrecord.table;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.TableChange.Isolation;
import io.zrecord.table.TableChange.Kind;
import io.zrecord.table.TableChange.Replacement;
import io.zrecord.table.TableChange.Transaction;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Collects what a {@link TableChange} does. Belongs to one thread. */
public final class TableChangeBuilder {
  private final Kind kind;
  private final RecordSchema schema;
  private UUID commitId = UUID.randomUUID();
  private Optional<UUID> baseTable = Optional.empty();
  private OptionalLong baseVersion = OptionalLong.empty();
  private Optional<UUID> baseCommit = Optional.empty();
  private List<ShardSummary> shards = List.of();
  private Optional<Transaction> transaction = Optional.empty();
  private Set<String> owned = Set.of();
  private Optional<Predicate<List<@Nullable String>>> replacedPartitions = Optional.empty();
  private Map<String, String> properties = Map.of();
  private List<Replacement> replacements = List.of();
  private Optional<ShardSummary> indexMap = Optional.empty();
  private OptionalLong expectedVersion = OptionalLong.empty();
  private Isolation isolation = Isolation.SNAPSHOT;
  private List<Integer> partitions = List.of();
  private Optional<Declarations> declarations = Optional.empty();
  private List<Constraint> evaluated = List.of();
  private List<Identity> assigned = List.of();

  TableChangeBuilder(Kind kind, RecordSchema schema) {
    this.kind = kind;
    this.schema = schema;
  }

  /** Begins with all that a change does, its id included. */
  static TableChangeBuilder of(TableChange change) {
    TableChangeBuilder copy = new TableChangeBuilder(change.kind(), change.schema());
    copy.commitId = change.commitId();
    copy.baseTable = change.baseTable();
    copy.baseVersion = change.baseVersion();
    copy.baseCommit = change.baseCommit();
    copy.shards = change.shards();
    copy.transaction = change.transaction();
    copy.properties = change.properties();
    copy.replacements = change.replacements();
    copy.indexMap = change.indexMap();
    copy.expectedVersion = change.expectedVersion();
    copy.isolation = change.isolation();
    copy.partitions = change.partitions();
    copy.declarations = change.declarations();
    copy.evaluated = change.evaluated();
    copy.assigned = change.assigned();
    copy.owned = change.owned();
    copy.replacedPartitions = change.replacedPartitions();
    return copy;
  }

  /** Sets the id of the attempt; a random id otherwise. */
  public TableChangeBuilder commitId(UUID id) {
    commitId = id;
    return this;
  }

  /** Sets the version that the change was planned on; there was no table otherwise. */
  public TableChangeBuilder base(TableSnapshot base) {
    baseCommit = Optional.of(base.recordsCommitId());
    return baseTable(base.tableId(), base.version());
  }

  /** Sets the version that the change was planned on, if there was a table. */
  public TableChangeBuilder base(Optional<TableSnapshot> base) {
    base.ifPresent(this::base);
    return this;
  }

  /** Sets the number of the version that the change was planned on, and whose number it is. */
  public TableChangeBuilder baseTable(UUID table, long version) {
    baseTable = Optional.of(table);
    return baseVersion(OptionalLong.of(version));
  }

  /** Sets the number alone. A table that took the place of the other is not noticed. */
  public TableChangeBuilder baseVersion(OptionalLong version) {
    baseVersion = version;
    return this;
  }

  /** Sets the shards to add at the end, in index order. */
  public TableChangeBuilder shards(List<ShardSummary> added) {
    shards = added;
    return this;
  }

  /** Sets the runs of shards that are replaced by others. */
  public TableChangeBuilder replacements(List<Replacement> runs) {
    replacements = runs;
    return this;
  }

  /** Sets the key under which the change takes effect once only. */
  public TableChangeBuilder transaction(Optional<Transaction> key) {
    transaction = key;
    return this;
  }

  /** Sets informative strings, which the version keeps. */
  public TableChangeBuilder properties(Map<String, String> strings) {
    properties = strings;
    return this;
  }

  /** Sets the shard that says where a relayout puts each record. */
  public TableChangeBuilder indexMap(ShardSummary map) {
    indexMap = Optional.of(map);
    return this;
  }

  /** Requires a version to be the newest, as {@link TableChange#expecting} does. */
  public TableChangeBuilder expecting(long version) {
    expectedVersion = OptionalLong.of(version);
    return this;
  }

  /**
   * Sets which commits since the base the change must not follow; {@link Isolation#SNAPSHOT}
   * otherwise. A change that depends on records besides those that it changes gives
   * {@link TableSnapshot#isolation} of its base.
   */
  public TableChangeBuilder isolation(Isolation wanted) {
    isolation = wanted;
    return this;
  }

  /**
   * Sets the ids of the partition fields of a table that is created or overwritten. Another change
   * may give those for which its shards were written, and is refused if the table has others.
   */
  public TableChangeBuilder partitionedBy(List<Integer> fieldIds) {
    partitions = fieldIds;
    return this;
  }

  /** Sets what a table declares that is created or overwritten; it keeps its own otherwise. */
  public TableChangeBuilder declaring(Declarations wanted) {
    declarations = Optional.of(wanted);
    return this;
  }

  /** Sets the checks that the caller has evaluated for each new record. */
  public TableChangeBuilder evaluated(List<Constraint> checks) {
    evaluated = checks;
    return this;
  }

  /**
   * Sets the identities of which each record of the shards to add has a number that the caller has
   * reserved ({@link RecordTable#reserve}).
   */
  public TableChangeBuilder assigned(List<Identity> identities) {
    assigned = identities;
    return this;
  }

  /**
   * Says that the change replaces all records of some partitions. Then a commit since the base that
   * added records to one of them is a conflict. The shards of these partitions are to be among the
   * replacements.
   *
   * @param partitions is given the value of each partition field, as
   *     {@link io.zrecord.table.write.PartitionText} has it, null for an absent value
   */
  public TableChangeBuilder replacingPartitions(Predicate<List<@Nullable String>> partitions) {
    replacedPartitions = Optional.of(partitions);
    return this;
  }

  /** Sets the files, relative to the table, that were written for the change since the base. */
  TableChangeBuilder owned(Set<String> files) {
    owned = files;
    return this;
  }

  /**
   * Makes the change.
   *
   * @throws IllegalArgumentException if a change of the kind cannot be this
   */
  public TableChange build() {
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
        expectedVersion,
        isolation,
        partitions,
        declarations,
        evaluated,
        assigned,
        owned,
        replacedPartitions);
  }
}
