package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.table.ListedShards;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.PartitionText;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One version of a table: its fields, and its shards in index order. Opens no data file, and the
 * files that list its shards when a shard of them is wanted. Immutable and thread-safe; readable
 * until the version is expired.
 */
public final class TableSnapshot {
  private final Storage storage;
  private final Manifest manifest;
  private final ListedShards shards;

  /** Creates a snapshot. Reads no list of shards. */
  TableSnapshot(Storage storage, Manifest manifest) {
    this.storage = storage;
    this.manifest = manifest;
    this.shards = new ManifestLog(storage).shards(manifest);
  }

  /** Returns the storage of the table. */
  public Storage storage() {
    return storage;
  }

  /** Returns the identity of the table, the same in every version. */
  public UUID tableId() {
    return manifest.tableId();
  }

  /** Returns the identity of the commit that made this version: {@link TableChange#commitId}. */
  public UUID commitId() {
    return manifest.commitId();
  }

  /** Returns the number of the version, from 0. */
  public long version() {
    return manifest.version();
  }

  /**
   * Returns the number of the newest version, up to this one, that may have changed records. Tags,
   * expiries and repairs change none.
   */
  public long recordsVersion() {
    return manifest.records().version();
  }

  /**
   * Returns the identity of the commit that made {@link #recordsVersion}. Two versions of a table
   * with the same one have the same records.
   */
  public UUID recordsCommitId() {
    return manifest.records().commitId();
  }

  /** Returns the time of the commit, which is later than that of the version before. */
  public Instant timestamp() {
    return Instant.ofEpochMilli(manifest.timestampMillis());
  }

  /** Returns the operation of the commit, such as {@code append}; informative. */
  public String operation() {
    return manifest.operation();
  }

  /** Returns the properties left by the committer, such as an application id; informative. */
  public Map<String, String> properties() {
    return manifest.properties();
  }

  /** Returns what the table says of itself, beside its fields. */
  public Declarations declarations() {
    return manifest.declarations();
  }

  /**
   * Returns the isolation that the table wants of changes that depend on records besides those that
   * they change: that of the property {@link DeclarationChange#ISOLATION}.
   */
  public TableChange.Isolation isolation() {
    return DeclarationRules.isolation(declarations());
  }

  /**
   * Requires that no constraint is enforced, before a long write of records begins that evaluates
   * none. Each commit requires the same.
   *
   * @throws SchemaMismatchException if there is one; the message has its name
   */
  public void requireNoEnforcedCheck() {
    requireEvaluated(List.of());
  }

  /**
   * Requires that each enforced constraint is one that the caller evaluates, before a long write of
   * records begins. Each commit requires the same.
   *
   * @throws SchemaMismatchException if one is not; the message has its name
   */
  public void requireEvaluated(List<Constraint> evaluated) {
    new DeclarationRules(storage.location(), declarations()).requireEvaluated(evaluated);
  }

  /**
   * Requires that no enforced constraint reads one of the fields, before a long write of their
   * values begins that evaluates none. Each commit requires the same.
   *
   * @throws SchemaMismatchException if there is one; the message has its name
   */
  public void requireNoEnforcedCheckOf(Collection<Integer> fieldIds) {
    new DeclarationRules(storage.location(), declarations()).requireEvaluated(List.of(), fieldIds);
  }

  /**
   * Requires that values of fields may be given: the table generates the values of none of them
   * always. Each commit requires the same.
   *
   * @throws SchemaMismatchException if there is such a field
   */
  public void requireGiven(List<FieldSpec> fields) {
    new DeclarationRules(storage.location(), declarations())
        .requireGiven(schema(), fields.stream().map(FieldSpec::id).toList());
  }

  /**
   * Requires that a table may have other fields, which replace all that there are, before a long
   * write begins. Each commit requires the same.
   *
   * @throws SchemaMismatchException if a field that the declarations name is not there any more, or
   *     is not what they need
   */
  public void requireDeclared(RecordSchema fields) {
    new DeclarationRules(storage.location(), declarations()).requireKept(schema(), fields);
  }

  /** Returns the manifest of the version. */
  Manifest manifest() {
    return manifest;
  }

  /** Returns the last transaction number of each application. */
  public Map<String, Long> transactions() {
    return manifest.transactions();
  }

  public RecordSchema schema() {
    return manifest.schema();
  }

  /**
   * Requires that this release can write the table, before a long write begins. Each commit
   * requires the same.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the table or a field uses a feature
   *     that this release does not know
   */
  public void requireWritable() {
    manifest.requireWritable(storage.location());
  }

  /**
   * Requires that the table has no partition fields, before a write begins that does not divide
   * records by partitions.
   *
   * @throws SchemaMismatchException if the table is partitioned
   */
  public void requireUnpartitioned() {
    if (!manifest.partitions().isEmpty()) {
      throw new SchemaMismatchException(
          storage.location(),
          "Cannot write records of any partition to " + storage.location()
              + ": the table is partitioned by "
              + partitionFields().stream().map(FieldSpec::name).toList()
              + "; write a shard for each partition with io.zrecord.table.write.ShardWriter");
    }
  }

  /**
   * Returns the fields with others after them, which get numbers that the table never used.
   *
   * @throws SchemaMismatchException if there is a field of one of the names, or a new field whose
   *     values may not be absent lacks an {@code initial} default
   */
  public RecordSchema withFields(List<FieldSpec> added) {
    SchemaPlan plan = SchemaPlan.of(this);
    for (FieldSpec field : added) {
      plan = plan.add(field, FieldPlace.last());
    }
    return plan.schema();
  }

  /**
   * Returns the fields by which the table is partitioned: all records of a shard have the same
   * value of each. Mostly empty.
   */
  public List<FieldSpec> partitionFields() {
    return manifest.partitions().stream()
        .map(id -> schema()
            .find(id)
            .orElseThrow(() -> new UnsupportedFormatException(
                storage.location(),
                "Cannot read the partitions of " + storage.location() + ": field " + id
                    + " is unknown to this release; upgrade zrecord")))
        .toList();
  }

  /**
   * Tells whether {@link #partitionFields} can tell the fields. A later release may partition a
   * table by a field that this release does not know, and that only costs what needs the field.
   */
  public boolean hasKnownPartitionFields() {
    return manifest.partitions().stream().allMatch(id -> schema().find(id).isPresent());
  }

  /**
   * Returns the records of some partitions. Reads the files that list shards, and no other.
   *
   * @param partitions is given the value of each of {@link #partitionFields}, as
   *     {@link PartitionText} has it, null for an absent value
   */
  public IndexSet indicesOf(Predicate<List<@Nullable String>> partitions) {
    loadShards(IndexSet.range(0, length()));
    IndexSet.Builder indices = new IndexSet.Builder();
    long first = 0;
    for (ShardSummary shard : shards) {
      if (partitions.test(shard.partition())) {
        indices.add(first, first + shard.length());
      }
      first += shard.length();
    }
    return indices.build();
  }

  /** Returns a number greater than every field id that the table ever used. */
  public int nextFieldId() {
    return manifest.nextFieldId();
  }

  /** Returns the number of records. */
  public long length() {
    return shards.length();
  }

  /**
   * Returns the map from indices of the version before to indices of this version, if this version
   * changed indices. Each call returns a new map, for one thread, and opens no file. The map
   * belongs to this version and is removed with it. Later versions have no map unless they changed
   * indices as well.
   */
  public Optional<IndexMap> indexMap() {
    return manifest.indexMap().map(shard -> new IndexMap(storage, shard));
  }

  /**
   * Returns all shards in index order. The list is as long as the version has shards, but reads the
   * files that list them when a shard is wanted for the first time.
   *
   * @throws io.zrecord.errors.MissingFileException at first touch, if the version was expired and
   *     swept since the snapshot was made
   * @throws io.zrecord.errors.CorruptDataException at first touch of a damaged file
   */
  public List<ShardSummary> shards() {
    return shards;
  }

  /**
   * Reads the files that list the shards of some records now, several at a time. A program that
   * touches most of these shards waits less afterwards.
   */
  public void loadShards(IndexSet indices) {
    for (int i = 0; i < indices.rangeCount(); i++) {
      shards.load(indices.rangeFrom(i), Math.min(indices.rangeTo(i), length()));
    }
  }

  /**
   * Returns the index of the first record of a shard, given by its ordinal. For
   * {@code shards().size()}, returns the length.
   */
  public long firstIndex(int shardOrdinal) {
    return shards.firstIndex(shardOrdinal);
  }

  /**
   * Returns the ordinal of the shard that holds the record.
   *
   * @throws IndexOutOfBoundsException if {@code index} is not within {@code [0, length())}
   */
  public int shardOf(long index) {
    return shards.shardOf(Objects.checkIndex(index, length()));
  }

  @Override
  public String toString() {
    return storage.location() + " version " + version();
  }
}
