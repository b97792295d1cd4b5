package io.zrecord;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.FieldChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardFields;
import io.zrecord.table.write.ShardWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Writes values of new fields, or other values of fields that are there, beside the records of a
 * table, and commits them as one version (FORMAT.md section 7). No file that is there changes.
 * Values that changes of records gave to a rewritten field are replaced as well, and their patches
 * are written again without them.
 *
 * <pre>{@code
 * FieldSpec score = new FieldSpec(1, "score", ElementType.F32, Shape.scalar(), Compression.RAW);
 * try (RecordFieldsWriter writer =
 *     RecordFieldsWriter.add(table, List.of(score), WriteOptions.defaults())) {
 *   for (int shard = 0; shard < writer.base().shards().size(); shard++) {
 *     RecordAppender values = writer.newAppender(shard);
 *     for (long i = 0; i < writer.base().shards().get(shard).length(); i++) {
 *       values.set("score", scoreOf(writer.base().firstIndex(shard) + i)).endRecord();
 *     }
 *     writer.finish(shard);
 *   }
 *   writer.commit();
 * }
 * }</pre>
 *
 * <p>The values of a shard are given in index order, with one {@code endRecord} for each record
 * that the version has; deleted records are left out. Shards without an appender lack a new field,
 * whose values are its {@code initial} default there, and keep a field that is rewritten. Memory is
 * that of one stripe for each appender that is not finished. A writer is thread-safe; an appender
 * belongs to one thread. {@link #close} deletes what was not committed.
 */
public final class RecordFieldsWriter implements AutoCloseable {
  private final RecordTable table;
  private final FieldChange.Kind kind;
  private final TableSnapshot base;
  private final RecordSchema schema;
  private final RecordSchema written;
  private final WriteOptions options;
  private final SortedMap<Integer, RecordAppender> appenders = new TreeMap<>();

  /** The shards that are finished, with their new files. */
  private final SortedMap<Integer, ShardSummary> finished = new TreeMap<>();

  private boolean isOpen = true;
  private boolean deletesFiles = true;

  private RecordFieldsWriter(
      RecordTable table,
      FieldChange.Kind kind,
      TableSnapshot base,
      RecordSchema schema,
      RecordSchema written,
      WriteOptions options) {
    this.table = table;
    this.kind = kind;
    this.base = base;
    this.schema = schema;
    this.written = written;
    this.options = options;
  }

  /**
   * Adds fields to the newest version of a table.
   *
   * @param fields the new fields; they get numbers that the table never used
   * @throws io.zrecord.errors.SchemaMismatchException if the table has a field of one of the names,
   *     or a field that may not be absent lacks an {@code initial} default
   */
  public static RecordFieldsWriter add(
      RecordTable table, List<FieldSpec> fields, WriteOptions options) {
    TableSnapshot base = table.latest();
    base.requireWritable();
    RecordSchema schema = base.withFields(fields);
    List<FieldSpec> added =
        schema.fields().subList(base.schema().fields().size(), schema.fields().size());
    return new RecordFieldsWriter(
        table, FieldChange.Kind.ADD_FIELDS, base, schema, new RecordSchema(added), options);
  }

  /**
   * Gives fields of the newest version of a table other values.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws SchemaMismatchException if the table is partitioned by one of the fields, an enforced
   *     check reads one, or the table always generates the values of one
   */
  public static RecordFieldsWriter rewrite(
      RecordTable table, Set<String> names, WriteOptions options) {
    TableSnapshot base = table.latest();
    base.requireWritable();
    RecordSchema schema = base.schema();
    List<FieldSpec> fields = names.stream()
        .map(name -> schema.fields().get(schema.ordinal(name)))
        .collect(Collectors.toList());
    fields.stream().filter(base.partitionFields()::contains).findFirst().ifPresent(field -> {
      String location = base.storage().location();
      throw new SchemaMismatchException(
          location,
          "Cannot rewrite field '" + field.name() + "' of " + location
              + ": the table is partitioned by it; overwrite the table instead");
    });
    base.requireNoEnforcedCheckOf(fields.stream().map(FieldSpec::id).toList());
    base.requireGiven(fields);
    return new RecordFieldsWriter(
        table, FieldChange.Kind.REWRITE_FIELD, base, schema, new RecordSchema(fields), options);
  }

  /** Returns the version whose records get the values. */
  public TableSnapshot base() {
    return base;
  }

  /** Returns the fields that are written, with their numbers. */
  public RecordSchema schema() {
    return written;
  }

  /**
   * Makes an appender of the values of one shard, for one thread.
   *
   * @param shard ordinal of the shard in {@link #base}
   * @throws IllegalStateException if the shard has an appender
   * @throws io.zrecord.errors.UnsupportedFormatException if the shard uses a feature that this
   *     release does not know
   */
  public synchronized RecordAppender newAppender(int shard) {
    requireOpen();
    if (appenders.containsKey(shard)) {
      throw new IllegalStateException("Shard " + shard + " of " + base
          + " has an appender already; give all values of a shard to one");
    }
    ShardSummary summary = base.shards().get(shard);
    TablesFile.requireWritable(base.storage(), summary);
    RecordAppender appender = new RecordAppender(
        ShardWriter.ofFields(base.storage(), summary, written, options), written);
    appenders.put(shard, appender);
    return appender;
  }

  /**
   * Finishes the appender of a shard and frees its memory. {@link #commit} does so for the others.
   */
  public void finish(int shard) {
    RecordAppender appender;
    synchronized (this) {
      requireOpen();
      appender = appenders.get(shard);
    }
    if (appender == null) {
      throw new IllegalStateException("Shard " + shard + " of " + base + " has no appender");
    }
    appender.finish();
    appender.close();
    complete(shard, appender);
  }

  /** Writes what else of a shard changes, after the values. */
  private void complete(int ordinal, RecordAppender appender) {
    ShardSummary before = base.shards().get(ordinal);
    appender.finished().ifPresent(added -> {
      ShardSummary after = ShardFields.with(base.storage(), before, added, options.durability());
      synchronized (this) {
        finished.put(ordinal, after);
      }
    });
  }

  /**
   * Publishes the values as the next version. No thread may use an appender any more.
   *
   * @throws io.zrecord.errors.CommitConflictException if another commit changed fields, or one of
   *     the shards, since {@link #base}; the table is unchanged
   * @throws CommitOutcomeUnknownException if the version may or may not have been published; then
   *     nothing is deleted
   */
  public synchronized TableSnapshot commit() {
    requireOpen();
    isOpen = false;
    appenders.forEach((ordinal, appender) -> {
      if (appender.finished().isEmpty()) {
        appender.finish();
      }
      if (!finished.containsKey(ordinal)) {
        complete(ordinal, appender);
      }
    });
    List<TableChange.Replacement> replacements = new ArrayList<>();
    finished.forEach((ordinal, after) -> replacements.add(
        new TableChange.Replacement(List.of(base.shards().get(ordinal)), List.of(after))));
    // Until the commit is known to have failed, a version may name these files.
    deletesFiles = false;
    try {
      return table.commit(
          new FieldChange(UUID.randomUUID(), kind, base, schema, replacements, Map.of()));
    } catch (CommitOutcomeUnknownException e) {
      throw e;
    } catch (ZRecordException e) {
      deletesFiles = true;
      throw e;
    }
  }

  /** Frees the buffers. Deletes the files unless they were committed or may have been. */
  @Override
  public synchronized void close() {
    isOpen = false;
    List<AutoCloseable> parts = new ArrayList<>();
    appenders.forEach((ordinal, appender) -> {
      parts.add(appender::close);
      if (deletesFiles) {
        ShardSummary after = finished.get(ordinal);
        Optional<ShardSummary> files = after == null
            ? appender.finished()
            : Optional.of(ShardFields.filesOf(after, base.shards().get(ordinal)));
        files.ifPresent(written -> parts.add(() -> table.discardFiles(written)));
      }
    });
    appenders.clear();
    finished.clear();
    Closing.all(parts);
  }

  private void requireOpen() {
    if (!isOpen) {
      throw new IllegalStateException(
          "The writer of fields of " + base + " was committed or closed; start a new one");
    }
  }
}
