package io.zrecord.spark.rows;

import io.zrecord.schema.FieldSpec;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.SparkErrors;
import io.zrecord.spark.scan.ZRecordScanBuilder;
import io.zrecord.spark.write.WriteTarget;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.write.DeltaWrite;
import org.apache.spark.sql.connector.write.DeltaWriteBuilder;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.SupportsDelta;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * One statement that deletes, updates or merges records. Names each record by its index in the
 * version that the statement reads. Lives on the driver, in the thread that plans the statement.
 */
public final class RowOperation implements SupportsDelta {
  private final String location;
  private final Supplier<WriteTarget> target;
  private Command command;
  private final Function<CaseInsensitiveStringMap, ScanBuilder> scans;
  private Map<String, String> writeOptions;
  private Optional<Set<String>> unchanged = Optional.empty();
  private boolean inserts = true;
  private boolean readsOthers = true;
  private boolean isInScanOrder;
  private final RowFallbacks fallbacks = new RowFallbacks();
  private final Set<String> read = new TreeSet<>();

  /**
   * Begins a statement.
   *
   * @param target returns the table, whose newest version is the one that the statement reads, with
   *     the checks that Spark has seen so far
   * @param scans makes a scan of that version
   * @param writeOptions options that every write of the table has
   */
  public RowOperation(
      String location,
      Supplier<WriteTarget> target,
      Command command,
      Function<CaseInsensitiveStringMap, ScanBuilder> scans,
      Map<String, String> writeOptions) {
    this.location = location;
    this.target = target;
    this.command = command;
    this.scans = scans;
    this.writeOptions = Map.copyOf(writeOptions);
  }

  /** Returns the table that the statement changes. */
  public WriteTarget target() {
    return target.get();
  }

  /**
   * Says which columns the rows have as they were, so that nobody writes them. What the rows have
   * in their place is never looked at. A rule says this each time that it sees the plan. Without a
   * word of it, the tasks compare the values with those that are there.
   */
  public void addUnchanged(Set<String> columns) {
    Set<String> all = new TreeSet<>(unchanged.orElseGet(Set::of));
    all.addAll(columns);
    unchanged = Optional.of(all);
  }

  /** Says that a rule does not know the plan. A later word of it, of another plan, counts more. */
  public void hasOtherPlan() {
    fallbacks.otherPlan();
  }

  /** Says that the plan reads no record of the table, because it can find none. */
  public void findsNoRecord() {
    fallbacks.noRecord();
  }

  /** Says which columns the checks of the table look at, whether or not they are assigned. */
  public void addChecked(Set<String> columns) {
    fallbacks.checked(columns);
  }

  /** Says which columns some clauses of a {@code MERGE} assign, and others do not. */
  public void addPartlyAssigned(Set<String> columns) {
    fallbacks.partly(columns);
  }

  /**
   * Says that the statement deletes the records that it finds, and has new ones instead.
   *
   * @param columns the columns of the table, none of which is updated
   * @param options the options of the statement, besides those of the table
   */
  public void replaces(List<String> columns, Map<String, String> options) {
    command = Command.MERGE;
    fallbacks.replacement();
    addUnchanged(Set.copyOf(columns));
    Map<String, String> all = new HashMap<>(new CaseInsensitiveStringMap(writeOptions));
    all.putAll(new CaseInsensitiveStringMap(options));
    writeOptions = Map.copyOf(all);
  }

  /**
   * Tells whether records may get another partition, and so be written whole. Without a word of
   * {@link #addUnchanged}, all may.
   */
  public boolean mayMove() {
    return !moving().isEmpty();
  }

  /** Returns the partition columns of which records may get other values. */
  private List<String> moving() {
    return target.get().base().map(DatasetVersion::partitionFields).orElse(List.of()).stream()
        .map(FieldSpec::name)
        .filter(name -> unchanged.isEmpty() || !unchanged.get().contains(name))
        .toList();
  }

  /** Says whether the statement may have new records. Without a word, a {@code MERGE} may. */
  public void inserts(boolean may) {
    inserts = may;
  }

  /**
   * Says whether the statement reads records of the table besides those that it changes. Without a
   * word of a rule, it is taken for granted.
   */
  public void readsOthers(boolean reads) {
    readsOthers = reads;
  }

  /**
   * Says whether the rows of the statement are those of the scan, in the order and the tasks of the
   * scan, because no join, aggregate or other shuffle is between.
   */
  public void inScanOrder(boolean is) {
    isInScanOrder = is;
  }

  /**
   * Tells whether each task of the scan reads whole shards, so that the rows of a shard are in one
   * task without a shuffle. A shard that is a large part of the table is read by several tasks.
   */
  private boolean isByShards() {
    return isInScanOrder && hasEvenShards();
  }

  private boolean hasEvenShards() {
    return target().base().map(DatasetVersion::snapshot).filter(EvenShards::are).isPresent();
  }

  private StatementReport report() {
    String shuffle = "";
    if (!isByShards()) {
      shuffle = "by _shard, because "
          + (isInScanOrder
              ? "a shard has much of the table"
              : "rows do not come straight from one scan");
    }
    return new StatementReport(
        ZRecordOptions.FORMAT + " " + description(),
        () -> Set.copyOf(read),
        fallbacks.partly(),
        fallbacks.of(command, unchanged, moving()),
        shuffle);
  }

  /** Notes what a scan reads. Spark may plan several scans of a statement. */
  private void reads(StructType columns) {
    for (String column : columns.fieldNames()) {
      if (!MetadataColumns.NAMES.contains(column)) {
        read.add(column);
      }
    }
  }

  @Override
  public Command command() {
    return command;
  }

  @Override
  public String description() {
    return command + " of " + location;
  }

  @Override
  public NamedReference[] rowId() {
    return new NamedReference[] {Expressions.column(MetadataColumns.INDEX)};
  }

  @Override
  public NamedReference[] requiredMetadataAttributes() {
    return new NamedReference[] {Expressions.column(MetadataColumns.SHARD)};
  }

  @Override
  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    ScanBuilder scan = scans.apply(options);
    if (scan instanceof ZRecordScanBuilder records) {
      records.telling(this::reads);
      return isByShards() ? records.byShards() : records;
    }
    return scan;
  }

  @Override
  public DeltaWriteBuilder newWriteBuilder(LogicalWriteInfo info) {
    StructType columns = info.schema();
    Map<String, String> options = new HashMap<>(new CaseInsensitiveStringMap(writeOptions));
    options.putAll(info.options());
    WriteConf conf = target.get().conf(new CaseInsensitiveStringMap(options));
    return new DeltaWriteBuilder() {
      @Override
      public DeltaWrite build() {
        return SparkErrors.planned(() -> new RowWrite(
            RowCommit.plan(
                location, target.get(), command, columns, conf, unchanged, inserts, readsOthers),
            isByShards(),
            report()));
      }
    };
  }
}
