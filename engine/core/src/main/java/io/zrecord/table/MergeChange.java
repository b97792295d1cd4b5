package io.zrecord.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Collects changes of shards that tasks have written ({@link ShardChangeWriter}), and shards to
 * add, and commits them as one version. Opens only shards with several changes, and reads no value
 * unless these become too large for a patch together, or one could not be added to the patch.
 * Several changes of one shard take memory for each slot that they change.
 *
 * <pre>{@code
 * MergeChange merge = MergeChange.of(base);
 * changes.forEach(merge::change);
 * TableSnapshot after = merge.commit();
 * }</pre>
 *
 * <p>Belongs to one thread.
 */
public final class MergeChange {
  /** Property of a version whose commit wrote shards of changed records again: their number. */
  public static final String REWRITTEN_SHARDS = "rewrittenShards";

  /**
   * Property of a version whose commit wrote all values of some fields of shards again: the names
   * of the fields.
   */
  public static final String REWRITTEN_FIELDS = "rewrittenFields";

  /** Property of a version whose commit joined several changes of a shard: number of shards. */
  public static final String JOINED_SHARDS = "joinedShards";

  /** Longest text of names in a property. A table may have thousands of fields. */
  private static final int MOST_NAMES = 1000;

  private final UUID commitId = UUID.randomUUID();
  private final TableSnapshot base;
  private final Storage storage;
  private final Map<ShardSummary, List<ShardChange>> byShard = new LinkedHashMap<>();
  private final Map<String, String> properties = new HashMap<>();

  /** What was written for this change alone, as by joining changes. */
  private final List<String> written = new ArrayList<>();

  /**
   * What was written after the base, so that no version up to the base names it. A change of a
   * shard that was written before may have been committed, and the shard taken back since.
   */
  private final Set<String> owned = new HashSet<>();

  /** What was written and is of no use, because changes were joined. May not be owned. */
  private final List<String> superseded = new ArrayList<>();

  private List<ShardSummary> added = List.of();
  private List<Constraint> evaluated = List.of();
  private List<Identity> assigned = List.of();
  private TableChange.Isolation isolation = TableChange.Isolation.SNAPSHOT;
  private Optional<TableChange.Transaction> transaction = Optional.empty();

  /** What is to be committed, once it is written. */
  private @Nullable TableChange prepared;

  private int rewrittenShards;
  private int joinedShards;
  private final Set<Integer> rewrittenFields = new HashSet<>();
  private boolean isDone;

  private MergeChange(TableSnapshot base) {
    this.base = base;
    this.storage = base.storage();
  }

  /** Begins a change of a version, mostly the newest. */
  public static MergeChange of(TableSnapshot base) {
    return new MergeChange(base);
  }

  /**
   * Adds a change of a shard of the version. A shard may have several, of different records. One
   * change may be part of several commits one after another, where the first has failed or the
   * shard was taken back since, but not of two at the same time.
   */
  public MergeChange change(ShardChange change) {
    requireOpen();
    if (change.version().equals(base.commitId())) {
      owned.addAll(change.files());
    }
    if (change.deletedCount() == 0 && change.fieldIds().isEmpty()) {
      superseded.addAll(change.files());
      return this;
    }
    byShard.computeIfAbsent(change.before(), shard -> new ArrayList<>()).add(change);
    return this;
  }

  /** Adds a change as {@link #change} does, whose files are deleted if the commit fails. */
  void changeOwned(ShardChange change) {
    written.addAll(change.files());
    change(change);
  }

  /** Gives the change up, before a commit, and deletes what was written for it alone. */
  void abandon() {
    isDone = true;
    UnnamedFiles.discard(storage, written);
  }

  /** Removes a shard of the version, whose files are not looked at. */
  MergeChange removing(ShardSummary shard) {
    requireOpen();
    byShard.put(shard, List.of());
    return this;
  }

  /** Sets the shards to add after all others, in index order. */
  public MergeChange adding(List<ShardSummary> shards) {
    requireOpen();
    added = List.copyOf(shards);
    return this;
  }

  /**
   * Sets which commits since the version the change must not follow;
   * {@link TableChange.Isolation#SNAPSHOT} otherwise. A change that depends on records besides
   * those that it changes gives {@link TableSnapshot#isolation} of the version.
   */
  public MergeChange isolation(TableChange.Isolation wanted) {
    requireOpen();
    isolation = wanted;
    return this;
  }

  /** Sets the key under which the change takes effect once only. */
  public MergeChange transaction(TableChange.Transaction key) {
    requireOpen();
    transaction = Optional.of(key);
    return this;
  }

  /**
   * Returns the identity of the version that the commit makes. If {@link #commit} returns a version
   * with another one, nothing was committed: there was nothing to change, or the transaction took
   * effect before.
   */
  public UUID commitId() {
    return commitId;
  }

  /** Sets the checks that the caller has evaluated for each new record and each new value. */
  public MergeChange evaluated(List<Constraint> checks) {
    requireOpen();
    evaluated = List.copyOf(checks);
    return this;
  }

  /**
   * Sets the identities of which each record of the shards to add has a number that the caller has
   * reserved ({@link RecordTable#reserve}).
   */
  public MergeChange assigned(List<Identity> identities) {
    requireOpen();
    assigned = List.copyOf(identities);
    return this;
  }

  /** Adds an informative string to the version. */
  public MergeChange property(String key, String value) {
    requireOpen();
    properties.put(key, value);
    return this;
  }

  private void requireOpen() {
    if (isDone || prepared != null) {
      throw new IllegalStateException("Cannot add to the change of " + base
          + ": it was committed, or has failed; begin another");
    }
  }

  /**
   * Commits the version. May be called once, and again after an unknown outcome: the change takes
   * effect once. After a failure the files of the tasks stay, because another commit may name them;
   * a sweep deletes them if none does. What tasks have written before the version was there is left
   * to a sweep as well, and what was joined if another commit came first.
   *
   * @return the version committed; the base if there is nothing to change or to add
   * @throws IllegalArgumentException if two changes change one record, a change is of a shard that
   *     the version does not have, or gives values of a partition field; nothing was changed
   * @throws io.zrecord.errors.CommitConflictException if another commit has changed one of the
   *     records, given values to a field of one of the shards, or replaced the table since the
   *     version; nothing was changed
   * @throws io.zrecord.errors.SchemaMismatchException if the table declares what the change does
   *     not obey; nothing was changed
   * @throws CommitOutcomeUnknownException if the version may or may not have been committed; call
   *     again
   */
  public TableSnapshot commit() {
    return commit(RecordTable.at(storage));
  }

  TableSnapshot commit(RecordTable table) {
    if (isDone) {
      throw new IllegalStateException("The change was committed before, or has failed");
    }
    isDone = true;
    if (byShard.isEmpty() && added.isEmpty()) {
      discardSuperseded();
      return base;
    }
    TableSnapshot after = publish(table);
    if (!after.commitId().equals(commitId)) {
      // The transaction took effect before, and what was written for this attempt is of no use.
      UnnamedFiles.discard(storage, written);
      return after;
    }
    if (after.version() == base.version() + 1) {
      // No version came between that could name the files.
      discardSuperseded();
    }
    return after;
  }

  private void discardSuperseded() {
    UnnamedFiles.discard(storage, superseded.stream().filter(owned::contains).toList());
  }

  private TableSnapshot publish(RecordTable table) {
    try {
      TableChange change = prepared;
      if (change == null) {
        if (transaction.isPresent() && tookEffect(table, transaction.get())) {
          return table.latest();
        }
        change = prepare();
        prepared = change;
      }
      return table.commit(change);
    } catch (CommitOutcomeUnknownException e) {
      // A version may name what was written, whatever the next attempt says.
      written.clear();
      isDone = false;
      throw e;
    } catch (RuntimeException e) {
      UnnamedFiles.discard(storage, written);
      throw e;
    }
  }

  /** Tells whether an earlier attempt took effect, after which files of the tasks may be gone. */
  private static boolean tookEffect(RecordTable table, TableChange.Transaction key) {
    return table.exists()
        && table.latest().transactions().getOrDefault(key.applicationId(), Long.MIN_VALUE)
            >= key.number();
  }

  private TableChange prepare() {
    requireNoPartitionField();
    requireGiven();
    Map<ShardSummary, Integer> ordinals = new HashMap<>();
    for (int i = 0; i < base.shards().size(); i++) {
      ordinals.put(base.shards().get(i), i);
    }
    List<TableChange.Replacement> replacements = new ArrayList<>();
    byShard.forEach((shard, changes) -> {
      Integer ordinal = ordinals.get(shard);
      if (ordinal == null) {
        throw new IllegalArgumentException("Cannot change shard " + shard.id() + ": " + base
            + " does not have it, or another state of it; change the shards of one version");
      }
      List<ShardSummary> after = switch (changes.size()) {
        case 0 -> List.of();
        case 1 -> after(changes.get(0));
        default -> joined(shard, base.firstIndex(ordinal), changes);
      };
      replacements.add(TableChange.Replacement.ofRows(shard, after));
    });
    tellRewritten();
    return TableChange.of(kind(), changedFields())
        .commitId(commitId)
        .base(base)
        .replacements(replacements)
        .shards(added)
        .isolation(isolation)
        .evaluated(evaluated)
        .assigned(assigned)
        .transaction(transaction)
        .properties(properties)
        .owned(owned)
        .build();
  }

  private void tellRewritten() {
    if (rewrittenShards > 0) {
      properties.put(REWRITTEN_SHARDS, Integer.toString(rewrittenShards));
    }
    if (joinedShards > 0) {
      properties.put(JOINED_SHARDS, Integer.toString(joinedShards));
    }
    String names = base.schema().fields().stream()
        .filter(field -> rewrittenFields.contains(field.id()))
        .map(FieldSpec::name)
        .collect(Collectors.joining(", "));
    if (!names.isEmpty()) {
      properties.put(REWRITTEN_FIELDS, shortened(names));
    }
  }

  private static String shortened(String names) {
    if (names.length() <= MOST_NAMES) {
      return names;
    }
    int end = Character.isHighSurrogate(names.charAt(MOST_NAMES - 1)) ? MOST_NAMES - 1 : MOST_NAMES;
    return names.substring(0, end) + "…";
  }

  private void requireNoPartitionField() {
    for (FieldSpec field : base.partitionFields()) {
      if (byShard.values().stream()
          .flatMap(List::stream)
          .anyMatch(change -> change.fieldIds().contains(field.id()))) {
        throw new IllegalArgumentException("Cannot commit the change of " + base
            + ": it gives values of field '" + field.name()
            + "', by which the table is partitioned; delete these records, and add them in shards of"
            + " their partitions");
      }
    }
  }

  /** The commit looks at all fields or at none if shards are added, so that this looks at some. */
  private void requireGiven() {
    List<Integer> given = byShard.values().stream()
        .flatMap(List::stream)
        .flatMap(change -> change.fieldIds().stream())
        .distinct()
        .toList();
    for (Declarations known :
        List.of(base.declarations(), Declarations.NONE.withIdentities(assigned))) {
      new DeclarationRules(storage.location(), known).requireGiven(base.schema(), given);
    }
  }

  private TableChange.Kind kind() {
    if (!added.isEmpty()) {
      return TableChange.Kind.MERGE;
    }
    return byShard.values().stream()
            .flatMap(List::stream)
            .allMatch(c -> c.fieldIds().isEmpty())
        ? TableChange.Kind.DELETE
        : TableChange.Kind.UPDATE;
  }

  /** Returns the fields of shards to add, or those that get values. */
  private RecordSchema changedFields() {
    if (!added.isEmpty()) {
      return base.schema();
    }
    List<FieldSpec> fields = base.schema().fields().stream()
        .filter(field -> byShard.values().stream()
            .flatMap(List::stream)
            .anyMatch(change -> change.fieldIds().contains(field.id())))
        .toList();
    return new RecordSchema(fields);
  }

  /** Returns what takes the place of a shard that has one change. */
  private List<ShardSummary> after(ShardChange change) {
    List<ShardSummary> after = change.after();
    supersede(change.files(), after);
    return after;
  }

  /** Returns what takes the place of a shard that has several changes. */
  private List<ShardSummary> joined(
      ShardSummary shard, long firstIndex, List<ShardChange> changes) {
    joinedShards++;
    int known = written.size();
    ShardChangeJoin join = new ShardChangeJoin(storage, base.schema(), written);
    List<ShardSummary> after = join.of(shard, changes, slot -> {
      throw new IllegalArgumentException("Cannot commit the change of " + base
          + ": two of its parts change or delete record " + (firstIndex + slot)
          + "; each record may be in one of them");
    });
    List<String> files = new ArrayList<>(written.subList(known, written.size()));
    owned.addAll(files);
    changes.forEach(change -> files.addAll(change.files()));
    supersede(files, after);
    return after;
  }

  /** Notes which of some files are of no use, and whether a shard was written again. */
  private void supersede(List<String> files, List<ShardSummary> after) {
    Set<String> own = new HashSet<>(files);
    Set<String> named = new HashSet<>();
    for (ShardSummary shard : after) {
      named.add(shard.directory());
      shard.chunks().forEach(chunk -> named.add(shard.fileOf(chunk)));
      for (TablesRef tables : shard.tables()) {
        String file = shard.fileOf(tables);
        named.add(file);
        if (own.contains(file)) {
          rewrittenFields.addAll(tables.fieldIds());
        }
      }
      PatchRef patch = shard.patch();
      if (patch != null) {
        named.add(shard.fileOf(patch));
      }
      rewrittenShards += own.contains(shard.directory()) ? 1 : 0;
    }
    files.stream().filter(file -> !named.contains(file)).forEach(superseded::add);
  }
}
