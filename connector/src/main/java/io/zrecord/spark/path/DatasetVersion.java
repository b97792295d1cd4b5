package io.zrecord.spark.path;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One version of a dataset. The fields are known at once. The records of a store that is written
 * online are fixed at the first call of {@link #snapshot}. Thread-safe.
 */
public final class DatasetVersion {
  private final RecordSchema schema;
  private final int nextFieldId;
  private final Reloads.Version version;
  private final @Nullable Path store;
  private @Nullable TableSnapshot snapshot;

  private DatasetVersion(
      RecordSchema schema,
      int nextFieldId,
      Reloads.Version version,
      @Nullable Path store,
      @Nullable TableSnapshot snapshot) {
    this.schema = schema;
    this.nextFieldId = nextFieldId;
    this.version = version;
    this.store = store;
    this.snapshot = snapshot;
  }

  /** Wraps a version of a table. */
  public static DatasetVersion of(TableSnapshot snapshot) {
    return new DatasetVersion(
        snapshot.schema(),
        snapshot.nextFieldId(),
        new Reloads.Version(
            snapshot.tableId().toString(),
            snapshot.recordsVersion(),
            snapshot.tableId() + "/" + snapshot.recordsVersion() + "/"
                + snapshot.recordsCommitId()),
        null,
        snapshot);
  }

  /** Reads the fields of a store. Does not read its records. */
  static DatasetVersion ofStore(Path store) {
    RecordSchema schema = StoreSnapshot.schema(store);
    int lastId = schema.fields().stream().mapToInt(FieldSpec::id).max().orElse(0);
    Reloads.Version version =
        new Reloads.Version(store.toString(), 0, UUID.randomUUID().toString());
    return new DatasetVersion(schema, lastId + 1, version, store, null);
  }

  /**
   * Requires that tasks can write the table, before they run.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the table uses an unknown feature
   */
  public void requireWritable() {
    if (store == null) {
      snapshot().requireWritable();
    }
  }

  /**
   * Requires that each enforced constraint is one that the caller evaluates for each record.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if one is not
   */
  public void requireEvaluated(List<Constraint> evaluated) {
    if (store == null) {
      snapshot().requireEvaluated(evaluated);
    }
  }

  /**
   * Requires that the table may have other fields in place of these.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if a declaration of the table names a field
   *     that would not be there, or not be what it needs
   */
  public void requireDeclared(RecordSchema fields) {
    if (store == null) {
      snapshot().requireDeclared(fields);
    }
  }

  /** Returns the fields by which the table is partitioned. A store has no partitions. */
  public List<FieldSpec> partitionFields() {
    return store == null ? snapshot().partitionFields() : List.of();
  }

  /** Tells whether this release knows these fields. */
  public boolean hasKnownPartitionFields() {
    return store != null || snapshot().hasKnownPartitionFields();
  }

  /** Returns what the table declares. A store declares nothing. */
  public Declarations declarations() {
    return store == null ? snapshot().declarations() : Declarations.NONE;
  }

  /** Returns which fields the table numbers. */
  public List<Identity> identities() {
    return declarations().identities();
  }

  /** Returns the names of the fields that the table numbers. */
  public Set<String> numberedFields() {
    return identities().stream()
        .flatMap(identity -> schema.find(identity.fieldId()).stream())
        .map(FieldSpec::name)
        .collect(Collectors.toUnmodifiableSet());
  }

  /** Returns the fields. */
  public RecordSchema schema() {
    return schema;
  }

  /** Returns an id that no field has had so far. */
  public int nextFieldId() {
    return nextFieldId;
  }

  /**
   * Returns a name that no version of any table with other records or fields has. A tag and an
   * expiry keep the name, so they void no cache. Each object of a store has its own name, because
   * records may change between two objects.
   */
  public String id() {
    return version.id();
  }

  /** Returns the version of the records, which orders loads of the same table. */
  public Reloads.Version version() {
    return version;
  }

  /** Returns a name that all versions of the table have, and no table that is made anew. */
  public String datasetId() {
    return version.table();
  }

  /** Tells whether the records are those of a store, which change without a commit. */
  public boolean isStore() {
    return store != null;
  }

  /**
   * Returns the records, always the same. The first call for a store makes a snapshot of the store.
   *
   * @throws SchemaMismatchException if the store has other fields by now
   */
  public synchronized TableSnapshot snapshot() {
    if (snapshot == null) {
      snapshot = take(java.util.Objects.requireNonNull(store));
    }
    return snapshot;
  }

  private TableSnapshot take(Path directory) {
    // Meanwhile, an append may have turned the store into a table.
    TableSnapshot taken = RecordStore.exists(directory)
        ? StoreSnapshot.temporary(directory)
        : RecordTable.at(LocalStorage.at(directory)).latest();
    if (!taken.schema().forWriters().equals(schema.forWriters())) {
      throw new SchemaMismatchException(
          directory.toString(),
          "Cannot read " + directory + ": its fields have changed since the query was analysed;"
              + " run the query again");
    }
    return taken;
  }
}
