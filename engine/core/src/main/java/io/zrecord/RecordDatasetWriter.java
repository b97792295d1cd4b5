package io.zrecord;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.Closing;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableChangeBuilder;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Writes records in bulk and commits them as one version of a table: all of them, or none.
 *
 * <pre>{@code
 * RecordSchema schema = RecordSchema.builder()
 *     .field("image", ElementType.BYTES)
 *     .field("label", ElementType.I32)
 *     .build();
 * try (RecordDatasetWriter writer =
 *     RecordDatasetWriter.create("/data/train", schema, WriteOptions.defaults())) {
 *   RecordAppender records = writer.newAppender();
 *   records.set("image", bytes).set("label", 3).endRecord();
 *   writer.commit();
 * }
 * }</pre>
 *
 * <p>For several threads take one appender each: every appender writes a shard of its own. The
 * records of the table are in the order in which the appenders were taken. If the table numbers a
 * field, each appender reserves numbers by commits of their own, or without any if the writer
 * creates the table: 1,024 at first, then twice as many each time, at most 2²⁰. Those that are left
 * over are gaps. A writer is thread-safe; an appender belongs to one thread. {@link #close} deletes
 * what was not committed.
 */
public final class RecordDatasetWriter implements AutoCloseable {
  private final RecordTable table;
  private final TableChange.Kind kind;
  private final Optional<TableSnapshot> base;
  private final RecordSchema schema;
  private final WriteOptions options;

  /** The checks that the caller evaluates. */
  private final List<Constraint> evaluated;

  /** What the table declares that is created; empty if it declares nothing, or is there. */
  private final Optional<Declarations> declared;

  private final NewTableNumbers numbers;
  private final List<RecordAppender> appenders = new ArrayList<>();
  private UUID commitId = UUID.randomUUID();
  private boolean isOpen = true;
  private boolean deletesShards = true;

  private RecordDatasetWriter(
      RecordTable table,
      TableChange.Kind kind,
      Optional<TableSnapshot> base,
      RecordSchema schema,
      WriteOptions options,
      List<Constraint> evaluated,
      Optional<Declarations> declared) {
    this.table = table;
    this.kind = kind;
    this.base = base;
    this.schema = schema;
    this.options = options;
    this.evaluated = List.copyOf(evaluated);
    this.declared = declared;
    this.numbers = new NewTableNumbers(
        table.storage().location(), declared.map(Declarations::identities).orElse(List.of()));
  }

  /**
   * Starts a new table at a location that is empty or does not exist.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @throws DatasetExistsException if the location holds a table
   * @throws io.zrecord.errors.NotADatasetException if the location holds something else
   */
  public static RecordDatasetWriter create(
      String location, RecordSchema schema, WriteOptions options) {
    return create(Storages.at(location), schema, options);
  }

  /** Starts a new table at the root of a storage, as the other method does. */
  public static RecordDatasetWriter create(
      Storage storage, RecordSchema schema, WriteOptions options) {
    return create(storage, schema, options, Optional.empty());
  }

  /**
   * Starts a new table that declares something. Records get numbers of its identities, without any
   * commit: nobody else has numbers of a table that is not there yet.
   *
   * @param declarations what the table declares, of which the caller evaluates each enforced check
   *     for each record: none may be false
   * @throws DatasetExistsException if the location holds a table
   * @throws io.zrecord.errors.NotADatasetException if the location holds something else
   * @throws io.zrecord.errors.SchemaMismatchException if the fields are not what the declarations
   *     need
   */
  public static RecordDatasetWriter create(
      Storage storage, RecordSchema schema, WriteOptions options, Declarations declarations) {
    return create(storage, schema, options, Optional.of(declarations));
  }

  private static RecordDatasetWriter create(
      Storage storage,
      RecordSchema schema,
      WriteOptions options,
      Optional<Declarations> declarations) {
    RecordTable table = tableAt(storage);
    if (table.exists()) {
      throw new DatasetExistsException(
          storage.location(),
          "Cannot create " + storage.location()
              + ": there is a table; append to it, overwrite it or choose another directory");
    }
    declarations.ifPresent(declared -> table.requireDeclarable(declared, schema));
    return new RecordDatasetWriter(
        table,
        TableChange.Kind.CREATE,
        Optional.empty(),
        schema,
        options,
        declarations.map(Declarations::enforced).orElse(List.of()),
        declarations);
  }

  /**
   * Adds records to a table; creates the table if there is none.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @param schema the fields of the table by name, type and shape, in any order; numbers of fields
   *     do not matter, and a field with an identity may be left out
   * @throws io.zrecord.errors.SchemaMismatchException if the fields are not those of the table, or
   *     the table is partitioned, or declares a check that writers must evaluate
   */
  public static RecordDatasetWriter append(
      String location, RecordSchema schema, WriteOptions options) {
    return append(Storages.at(location), schema, options);
  }

  /** Adds records to a table at the root of a storage, as the other method does. */
  public static RecordDatasetWriter append(
      Storage storage, RecordSchema schema, WriteOptions options) {
    return append(storage, schema, options, List.of());
  }

  /**
   * Adds records to a table at the root of a storage, as the other methods do.
   *
   * @param evaluated checks of the table that the caller evaluates for each record: none may be
   *     false
   */
  public static RecordDatasetWriter append(
      Storage storage, RecordSchema schema, WriteOptions options, List<Constraint> evaluated) {
    RecordTable table = tableAt(storage);
    Optional<TableSnapshot> found = table.find();
    if (found.isEmpty()) {
      return ofNewTable(table, TableChange.Kind.APPEND, schema, options);
    }
    TableSnapshot base = requireWritable(found.get(), evaluated);
    return new RecordDatasetWriter(
        table,
        TableChange.Kind.APPEND,
        Optional.of(base),
        FieldIds.forAppend(base, schema),
        options,
        evaluated,
        Optional.empty());
  }

  /**
   * Replaces the records and fields of a table; creates the table if there is none. Earlier
   * versions stay readable.
   *
   * @param location a local path, or a URI of a storage on the class path, such as
   *     {@code s3://bucket/train}; see {@link Storages}
   * @throws io.zrecord.errors.SchemaMismatchException if the table is partitioned, declares a check
   *     that writers must evaluate, or names a field in its declarations that it would lose, or
   *     that would not be what they need
   */
  public static RecordDatasetWriter overwrite(
      String location, RecordSchema schema, WriteOptions options) {
    return overwrite(Storages.at(location), schema, options);
  }

  /** Replaces a table at the root of a storage, as the other method does. */
  public static RecordDatasetWriter overwrite(
      Storage storage, RecordSchema schema, WriteOptions options) {
    return overwrite(storage, schema, options, List.of());
  }

  /**
   * Replaces a table at the root of a storage, as the other methods do.
   *
   * @param evaluated checks of the table that the caller evaluates for each record: none may be
   *     false
   */
  public static RecordDatasetWriter overwrite(
      Storage storage, RecordSchema schema, WriteOptions options, List<Constraint> evaluated) {
    RecordTable table = tableAt(storage);
    Optional<TableSnapshot> found = table.find();
    if (found.isEmpty()) {
      return ofNewTable(table, TableChange.Kind.OVERWRITE, schema, options);
    }
    TableSnapshot base = requireWritable(found.get(), evaluated);
    RecordSchema fields = FieldIds.forOverwrite(base, schema);
    base.requireDeclared(fields);
    return new RecordDatasetWriter(
        table,
        TableChange.Kind.OVERWRITE,
        Optional.of(base),
        fields,
        options,
        evaluated,
        Optional.empty());
  }

  private static RecordDatasetWriter ofNewTable(
      RecordTable table, TableChange.Kind kind, RecordSchema schema, WriteOptions options) {
    return new RecordDatasetWriter(
        table, kind, Optional.empty(), schema, options, List.of(), Optional.empty());
  }

  private static TableSnapshot requireWritable(TableSnapshot latest, List<Constraint> evaluated) {
    latest.requireWritable();
    latest.requireUnpartitioned();
    latest.requireEvaluated(evaluated);
    return latest;
  }

  private static RecordTable tableAt(Storage storage) {
    RecordTable table = RecordTable.at(storage);
    table.requireCreatable();
    return table;
  }

  private List<Identity> identities() {
    return base.map(version -> version.declarations().identities()).orElseGet(numbers::identities);
  }

  /** Returns the fields, with the numbers that they have in the table. */
  public RecordSchema schema() {
    return schema;
  }

  /**
   * Sets the identity of the commit, which the version has as {@link TableSnapshot#commitId}. It is
   * random otherwise. A writer that is given the identity of an attempt whose outcome is unknown
   * does not commit again what a version since its beginning has; look for the identity in the
   * versions before.
   */
  public synchronized RecordDatasetWriter commitId(UUID id) {
    requireOpen();
    commitId = id;
    return this;
  }

  /** Makes an appender for one thread. Its records come after those of appenders taken before. */
  public synchronized RecordAppender newAppender() {
    requireOpen();
    RecordAppender appender = new RecordAppender(
        ShardWriter.create(table.storage(), schema, options),
        schema,
        identities().stream()
            .map(
                one -> new IdentityValues(base.isPresent() ? table::reserve : numbers, schema, one))
            .toList());
    appenders.add(appender);
    return appender;
  }

  /**
   * Finishes the appenders and publishes their records as the next version. No thread may use an
   * appender any more.
   *
   * @throws io.zrecord.errors.CommitConflictException if another commit came first that this commit
   *     cannot follow; the table is unchanged
   * @throws CommitOutcomeUnknownException if the version may or may not have been published; then
   *     nothing is deleted
   */
  public synchronized TableSnapshot commit() {
    requireOpen();
    isOpen = false;
    List<ShardSummary> shards = new ArrayList<>();
    for (RecordAppender appender : appenders) {
      appender.finish().ifPresent(shards::add);
    }
    // Until the commit is known to have failed, a version may name these shards.
    deletesShards = false;
    try {
      TableChangeBuilder change = TableChange.of(kind, schema)
          .commitId(commitId)
          .base(base)
          .shards(shards)
          .evaluated(evaluated)
          .assigned(identities());
      declared.ifPresent(one -> change.declaring(one.withIdentities(numbers.identities())));
      return table.commit(change.build());
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException e) {
      deletesShards = true;
      throw e;
    }
  }

  /** Frees the buffers. Deletes the shards unless they were committed or may have been. */
  @Override
  public synchronized void close() {
    isOpen = false;
    List<AutoCloseable> parts = new ArrayList<>();
    for (RecordAppender appender : appenders) {
      parts.add(appender::close);
      if (deletesShards) {
        appender
            .finished()
            .ifPresent(shard -> parts.add(() -> table.storage().delete(shard.directory())));
      }
    }
    appenders.clear();
    Closing.all(parts);
  }

  private void requireOpen() {
    if (!isOpen) {
      throw new IllegalStateException("The writer of " + table.storage().location()
          + " was committed or closed; start a new one");
    }
  }
}
