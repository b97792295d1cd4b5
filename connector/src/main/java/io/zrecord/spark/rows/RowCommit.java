package io.zrecord.spark.rows;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.job.CommitProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.scan.IndexOrder;
import io.zrecord.spark.scan.SnapshotId;
import io.zrecord.spark.write.RowWriters;
import io.zrecord.spark.write.TableCommit;
import io.zrecord.spark.write.WriteTarget;
import io.zrecord.spark.write.ZRecordBatchWrite;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.connector.write.DeltaWriterFactory;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.RowLevelOperation.Command;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;

/**
 * The commit of a statement that changes records: planned before the tasks start, and completed
 * with what they have written. Lives on the driver.
 */
final class RowCommit {
  private final RecordTable table;
  private final List<Constraint> evaluated;
  private final TableSnapshot base;
  private final WriteConf conf;
  private final boolean readsOthers;
  private final StructType columns;
  private final List<Integer> assigned;
  private final boolean compares;

  /** The writes of new records, and of those that move; empty if the statement has none. */
  private final Optional<TableCommit> inserts;

  private RowCommit(
      WriteTarget target,
      TableSnapshot base,
      WriteConf conf,
      boolean readsOthers,
      StructType columns,
      List<Integer> assigned,
      boolean compares,
      Optional<TableCommit> inserts) {
    this.table = target.table();
    this.evaluated = target.evaluated();
    this.base = base;
    this.conf = conf;
    this.readsOthers = readsOthers;
    this.columns = columns;
    this.assigned = assigned;
    this.compares = compares;
    this.inserts = inserts;
  }

  /**
   * Plans a statement, and refuses what its commit would refuse.
   *
   * @param rows the columns of its rows; none for a {@code DELETE}
   * @param unchanged names of columns that every updated row has as they were; empty if nobody has
   *     found out
   * @param inserts whether a {@code MERGE} may have new records
   * @param readsOthers whether it reads records of the table besides those that it changes
   */
  static RowCommit plan(
      String location,
      WriteTarget target,
      Command command,
      StructType rows,
      WriteConf conf,
      Optional<Set<String>> unchanged,
      boolean inserts,
      boolean readsOthers) {
    StructType columns = withoutMetadata(rows);
    TableSnapshot base = base(location, target);
    base.requireWritable();
    requireExpected(target, base, conf);
    String[] names = columns.fieldNames();
    List<Integer> assigned = IntStream.range(0, names.length)
        .filter(i -> unchanged.isEmpty() || !unchanged.get().contains(names[i]))
        .boxed()
        .toList();
    if (command == Command.UPDATE && unchanged.isPresent()) {
      requireAssignable(target, base, columns, assigned);
    } else if (command != Command.DELETE) {
      base.requireEvaluated(target.evaluated());
    }
    if (command != Command.DELETE) {
      requireWritable(base, columns, assigned);
      if (unchanged.isPresent()) {
        base.requireGiven(assigned(base, columns, assigned));
      }
    }
    Optional<TableCommit> written = command == Command.MERGE && inserts
        ? Optional.of(TableCommit.ofInserts(location, target, columns, conf.inAnyOrder()))
        : command != Command.DELETE && moves(base, columns, assigned)
            ? Optional.of(moved(location, target, columns, conf))
            : Optional.empty();
    return new RowCommit(
        target, base, conf, readsOthers, columns, assigned, unchanged.isEmpty(), written);
  }

  /**
   * Returns the columns that are fields. A statement that names metadata columns gets them as well,
   * after all others.
   */
  private static StructType withoutMetadata(StructType rows) {
    int count = 0;
    while (count < rows.length()
        && !MetadataColumns.NAMES.contains(rows.apply(count).name())) {
      count++;
    }
    for (int i = count; i < rows.length(); i++) {
      if (!MetadataColumns.NAMES.contains(rows.apply(i).name())) {
        throw new IllegalStateException("Columns follow those of metadata: " + rows);
      }
    }
    return new StructType(Arrays.copyOf(rows.fields(), count));
  }

  /** Returns the version whose records are changed. */
  static TableSnapshot base(String location, WriteTarget target) {
    if (target.store().isPresent()) {
      throw Unsupported.operation(
          "changing records of the store at " + location + ", which is written online",
          "change them by the program that writes the store, or append to the store, which makes"
              + " a table of it");
    }
    return target.base().map(DatasetVersion::snapshot).orElseThrow();
  }

  /**
   * Requires that the version is the one that an option names, unless the transaction of the write
   * may have taken effect before.
   */
  static void requireExpected(WriteTarget target, TableSnapshot base, WriteConf conf) {
    OptionalLong expected = conf.expectedVersion();
    boolean isDone = conf.transaction()
        .filter(key ->
            base.transactions().getOrDefault(key.applicationId(), Long.MIN_VALUE) >= key.number())
        .isPresent();
    if (expected.isPresent() && !isDone) {
      target.table().requireExpected(TableChange.Kind.UPDATE, expected.getAsLong());
    }
  }

  /** Refuses columns whose values Spark does not write. */
  private static void requireWritable(
      TableSnapshot base, StructType columns, List<Integer> assigned) {
    List<FieldSpec> fields = IndexOrder.fields(base, columns).fields();
    assigned.forEach(i -> RowWriters.of(columns.apply(i).dataType(), fields.get(i)));
  }

  /** Tells whether some of the assigned columns have partition fields. */
  private static boolean moves(TableSnapshot base, StructType columns, List<Integer> assigned) {
    List<FieldSpec> fields = IndexOrder.fields(base, columns).fields();
    return assigned.stream().anyMatch(i -> isPartitionField(base, fields.get(i)));
  }

  private static boolean isPartitionField(TableSnapshot base, FieldSpec field) {
    return ChangeBase.of(base).partitions().contains(field.id());
  }

  /** Plans the new places of records that get another partition. */
  private static TableCommit moved(
      String location, WriteTarget target, StructType columns, WriteConf conf) {
    try {
      return TableCommit.ofInserts(location, target, columns, conf.inAnyOrder());
    } catch (SchemaMismatchException e) {
      throw new SchemaMismatchException(
          location,
          "Cannot change values of columns by which " + location
              + " is partitioned, because a record that gets another partition is written whole: "
              + e.getMessage());
    }
  }

  /** Returns the fields of the assigned columns. */
  private static List<FieldSpec> assigned(
      TableSnapshot base, StructType columns, List<Integer> assigned) {
    List<FieldSpec> fields = IndexOrder.fields(base, columns).fields();
    return assigned.stream().map(fields::get).toList();
  }

  private static void requireAssignable(
      WriteTarget target, TableSnapshot base, StructType columns, List<Integer> assigned) {
    if (target.evaluated().isEmpty()) {
      base.requireNoEnforcedCheckOf(
          assigned(base, columns, assigned).stream().map(FieldSpec::id).toList());
    } else {
      base.requireEvaluated(target.evaluated());
    }
  }

  /** Tells whether records may be written whole, and the order of the table's writes ignored. */
  boolean hasUnsortedInserts() {
    return inserts.isPresent() && !conf.order().isEmpty();
  }

  /**
   * Returns the columns by which rows are sorted that were not in the table before: one partition
   * comes after the other.
   */
  List<String> partitionColumns() {
    return inserts.map(TableCommit::partitionColumns).orElse(List.of());
  }

  /** Returns how many bytes of rows a task should have; 0 if Spark's setting should say. */
  long advisoryBytes() {
    return inserts.map(TableCommit::advisoryBytes).orElse(0L);
  }

  /**
   * Returns what makes the writers of the tasks.
   *
   * @param partly names of columns that some clauses assign, and others do not
   */
  DeltaWriterFactory writers(PhysicalWriteInfo info, Set<String> partly) {
    RecordSchema fields = IndexOrder.fields(base, columns);
    return new RowWriterFactory(
        new RowPlan(
            SnapshotId.of(base),
            ChangeBase.of(base),
            columns,
            fields,
            assigned.stream()
                .filter(i -> !isPartitionField(base, fields.fields().get(i)))
                .toList(),
            compares,
            carried(partly),
            generated(fields),
            moves(base, columns, assigned) ? inserts.orElseThrow().partitioning() : null),
        inserts
            .map(commit -> new ZRecordBatchWrite(columns, commit).createBatchWriterFactory(info))
            .orElse(null));
  }

  /** Returns the ordinals of the columns that the statement, or a clause of it, does not assign. */
  private List<Integer> carried(Set<String> partly) {
    return IntStream.range(0, columns.length())
        .filter(i -> !assigned.contains(i) || partly.contains(columns.apply(i).name()))
        .boxed()
        .toList();
  }

  /** Returns the ordinals of the fields whose values the table always generates. */
  private List<Integer> generated(RecordSchema fields) {
    Set<Integer> ids = base.declarations().identities().stream()
        .filter(identity -> identity.generation() == Identity.Generation.ALWAYS)
        .map(Identity::fieldId)
        .collect(Collectors.toSet());
    return IntStream.range(0, fields.fields().size())
        .filter(i -> ids.contains(fields.fields().get(i).id()))
        .boxed()
        .toList();
  }

  /**
   * Publishes what the tasks have written.
   *
   * @param report what the version says of the statement
   * @return the version in force
   * @throws CommitConflictException if another commit is in the way; nothing was changed
   */
  TableSnapshot publish(List<WrittenRows> rows, StatementReport report) {
    MergeChange change = MergeChange.of(base).evaluated(evaluated);
    Set<Integer> written = new TreeSet<>();
    rows.forEach(task -> task.changes().forEach(changed -> {
      change.change(changed);
      written.addAll(changed.fieldIds());
    }));
    List<ShardSummary> added = added(rows);
    if (!added.isEmpty()) {
      change
          .adding(inserts.orElseThrow().inOrder(added))
          .assigned(base.declarations().identities());
    }
    if (conf.expectedVersion().isPresent()) {
      change.isolation(TableChange.Isolation.SERIALIZABLE);
    } else if (readsOthers || rows.stream().anyMatch(WrittenRows::hasNewRecords)) {
      change.isolation(base.isolation());
    }
    conf.transaction().ifPresent(change::transaction);
    CommitProperties.of(SparkSession.active().sparkContext()).forEach(change::property);
    report.properties(names(), names(written)).forEach(change::property);
    TableSnapshot after = change.commit();
    if (!after.commitId().equals(change.commitId())) {
      // There was nothing to change, or the transaction took effect before.
      discard(rows);
    }
    Reloads.committed(table.storage());
    return after;
  }

  private List<String> names() {
    return base.schema().fields().stream().map(FieldSpec::name).toList();
  }

  private Set<String> names(Set<Integer> fieldIds) {
    return base.schema().fields().stream()
        .filter(field -> fieldIds.contains(field.id()))
        .map(FieldSpec::name)
        .collect(Collectors.toSet());
  }

  /** Deletes what tasks have written and no version names, as far as possible. */
  void discard(List<WrittenRows> rows) {
    rows.forEach(task -> task.changes().forEach(table::discard));
    table.discard(added(rows));
  }

  private static List<ShardSummary> added(List<WrittenRows> rows) {
    return ZRecordBatchWrite.shards(rows.stream()
        .map(WrittenRows::shards)
        .filter(Objects::nonNull)
        .toArray(WriterCommitMessage[]::new));
  }
}
