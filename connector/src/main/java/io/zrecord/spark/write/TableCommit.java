package io.zrecord.spark.write;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.column.StringLengths;
import io.zrecord.spark.job.CommitProperties;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.DatasetVersion;
import io.zrecord.spark.path.Reloads;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.storage.Storage;
import io.zrecord.store.StoreSnapshot;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableChangeBuilder;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The commit of a write: planned before the tasks start, and completed with their shards. Lives on
 * the driver.
 */
public final class TableCommit {
  private static final Logger LOG = LoggerFactory.getLogger(TableCommit.class);

  private final WriteTarget target;
  private final WriteConf conf;
  private final Replaced replaced;

  /** Whether tasks reserve numbers when they need the first one. */
  private boolean reservesInTasks;

  private final TableChange.Kind kind;
  private final FieldPlanner.Plan fields;
  private final PartitionPlan partitions;
  private final RowOrder order;
  private final List<Identity> identities;
  private final UUID commitId;

  /** Under which the commit takes effect once. */
  private Optional<TableChange.Transaction> transaction;

  /**
   * Plans a write that adds rows.
   *
   * @param commitId unique to the write
   * @throws io.zrecord.errors.SchemaMismatchException if the columns do not fit the table
   */
  public TableCommit(
      UUID commitId, String location, WriteTarget target, StructType columns, WriteConf conf) {
    this(commitId, location, target, columns, conf, Replaced.NOTHING, false);
  }

  /**
   * Plans a write.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the columns do not fit the table
   */
  TableCommit(
      UUID commitId,
      String location,
      WriteTarget target,
      StructType columns,
      WriteConf conf,
      Replaced replaced) {
    this(commitId, location, target, columns, conf, replaced, false);
  }

  /**
   * Plans the creation of an empty table.
   *
   * @param definesColumns whether the dataset is to keep what the columns declare
   * @throws io.zrecord.errors.SchemaMismatchException if no table can have the columns
   */
  public static TableCommit ofDefinition(
      UUID commitId,
      String location,
      WriteTarget target,
      StructType columns,
      WriteConf conf,
      boolean definesColumns) {
    return new TableCommit(
        commitId, location, target, columns, conf, Replaced.NOTHING, definesColumns);
  }

  /**
   * Plans the new records of a statement that changes others too, and commits them itself.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the columns do not fit the table
   */
  public static TableCommit ofInserts(
      String location, WriteTarget target, StructType columns, WriteConf conf) {
    TableCommit inserts =
        new TableCommit(UUID.randomUUID(), location, target, columns, conf, Replaced.NOTHING);
    inserts.reservesInTasks = true;
    return inserts;
  }

  /**
   * Plans an epoch of a stream, which may turn out to have no rows. Numbers are reserved when there
   * is a row that needs one.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the columns do not fit the table
   */
  static TableCommit ofEpoch(
      UUID commitId,
      String location,
      WriteTarget target,
      StructType columns,
      WriteConf conf,
      Replaced replaced) {
    TableCommit epoch = new TableCommit(commitId, location, target, columns, conf, replaced);
    epoch.reservesInTasks = true;
    return epoch;
  }

  private TableCommit(
      UUID commitId,
      String location,
      WriteTarget target,
      StructType columns,
      WriteConf conf,
      Replaced wanted,
      boolean definesColumns) {
    this.commitId = commitId;
    this.target = target;
    this.conf = conf;
    target.base().ifPresent(DatasetVersion::requireWritable);
    this.replaced =
        wanted.in(location, target.base().map(DatasetVersion::partitionFields).orElse(List.of()));
    this.kind = target.kind(replaced);
    if (!target.isReplaced()) {
      target.base().ifPresent(base -> base.requireEvaluated(target.evaluated()));
    }
    boolean isCaseSensitive =
        Boolean.parseBoolean(SparkSession.active().conf().get("spark.sql.caseSensitive", "false"));
    // A table that is replaced loses what it declared.
    this.identities = target.isReplaced()
        ? List.of()
        : target.base().map(DatasetVersion::identities).orElse(List.of());
    FieldPlanner planner = new FieldPlanner(
        location, conf, isCaseSensitive, definesColumns || target.definesColumns(), identities);
    FieldPlanner.Plan planned = target.base().isEmpty()
        ? planner.create(columns)
        : kind == TableChange.Kind.APPEND || kind == TableChange.Kind.MERGE
            ? planner.append(columns, target.base().get())
            : target.isReplaced()
                ? planner.replace(columns, target.base().get())
                : planner.overwrite(columns, target.base().get());
    this.partitions = PartitionPlan.of(location, target, planned.table(), isCaseSensitive);
    if (kind == TableChange.Kind.MERGE) {
      requireNoNewFields(location, planned.table());
    }
    // A shard says the value of a partition field, so that no shard may lack the field.
    this.fields = planned.writing(partitions.fields());
    requireFieldsOfProperties(location);
    this.order = RowOrder.of(
        location,
        conf,
        fields.table(),
        fields.written(),
        partitions.ordinals(fields.written()),
        columns,
        isCaseSensitive);
    if (kind == TableChange.Kind.OVERWRITE && !target.isReplaced()) {
      target.base().ifPresent(base -> base.requireDeclared(fields.table()));
    }
    if (target.store().isPresent()) {
      requireAppendable(target.store().get());
    } else if (target.base().isEmpty()) {
      target.table().requireCreatable();
    }
    if (conf.expectedVersion().isPresent()) {
      requireExpected(conf.expectedVersion().getAsLong());
    } else if (kind != TableChange.Kind.APPEND && target.base().isPresent()) {
      CheckedSessions.requireRules(location, target.base().get().snapshot().version());
    }
    this.transaction = conf.transaction();
  }

  /** Lets the commit take effect once under a transaction, that of an epoch of a stream. */
  public TableCommit under(TableChange.Transaction epoch) {
    transaction = Optional.of(epoch);
    return this;
  }

  /** Tells whether the commit would leave the table as it was when it was planned. */
  public boolean isIdle(List<ShardSummary> shards) {
    return kind == TableChange.Kind.APPEND
        && shards.isEmpty()
        && target.base().filter(base -> base.schema().equals(fields.table())).isPresent();
  }

  /** Tells whether the table has a transaction of an application. */
  boolean hasTransactions(String applicationId) {
    return target
        .base()
        .filter(base -> base.snapshot().transactions().containsKey(applicationId))
        .isPresent();
  }

  /** Refuses properties of fields that the table does not have, which would have no effect. */
  private void requireFieldsOfProperties(String location) {
    for (String name : conf.fieldsNamedByTable()) {
      if (fields.table().fields().stream()
          .noneMatch(field -> field.name().equalsIgnoreCase(name))) {
        throw new SchemaMismatchException(
            location,
            "Cannot write to " + location + ", whose property 'write.compression." + name
                + "' names no column; the columns are "
                + fields.table().fields().stream().map(FieldSpec::name).toList()
                + "; unset the property");
      }
    }
  }

  /** A commit that keeps shards and replaces others changes no fields. */
  private void requireNoNewFields(String location, RecordSchema after) {
    RecordSchema present = target.base().orElseThrow().schema();
    List<String> added = after.fields().stream()
        .filter(field -> present.find(field.id()).isEmpty())
        .map(FieldSpec::name)
        .toList();
    if (!added.isEmpty()) {
      throw new SchemaMismatchException(
          location,
          "Cannot add the columns " + added + " to " + location
              + " while some of its partitions are replaced; add them first, as ALTER TABLE … ADD"
              + " COLUMNS does, or by an append");
    }
  }

  /** Returns how tasks divide their rows. */
  public Partitioning partitioning() {
    return new Partitioning(
        partitions.ordinals(fields.written()),
        order.isByPartitions(),
        conf.shardBytes().orElse(Long.MAX_VALUE));
  }

  /** Returns shards in the order of the table: by their partitions, then as they come. */
  public List<ShardSummary> inOrder(List<ShardSummary> shards) {
    return partitions.inOrder(shards);
  }

  /** Returns the columns of the query that have the partition fields. */
  public List<String> partitionColumns() {
    return order.partitions();
  }

  /** Returns where the rows are to meet, and in which order. */
  RowOrder order() {
    return order;
  }

  /** Returns how many bytes of rows a task should have, if rows meet somewhere. */
  public long advisoryBytes() {
    return conf.shardBytes().orElse(conf.writeOptions().chunkBytes());
  }

  /**
   * Fails early, to save the job of a write that can only fail. With a transaction nothing is
   * checked here: if the transaction took effect before, its own version may be the newest.
   */
  private void requireExpected(long version) {
    if (target.store().isPresent()) {
      throw new IllegalArgumentException("Option " + ZRecordOptions.EXPECTED_VERSION
          + " has the value " + version + ", but " + location()
          + " is a store that is written online, and has no versions; leave the option out");
    }
    if (conf.transaction().isEmpty()) {
      target.table().requireExpected(kind, version);
    }
  }

  private void requireAppendable(Path store) {
    if (kind != TableChange.Kind.APPEND) {
      throw Unsupported.operation(
          "replacing a store that is written online",
          "append to it, which makes a table of it, or write to another path");
    }
    StoreSnapshot.requireNoWriter(store);
  }

  /**
   * Returns the fields that tasks write: one for each column, and those that get their default or a
   * number. Has no attributes but the lengths of strings.
   */
  RecordSchema writtenSchema() {
    return new RecordSchema(fields.written().stream().map(StringLengths::only).toList());
  }

  /**
   * Reserves the first numbers of each task, by one commit for each identity of the table whose
   * numbers the rows do not bring.
   */
  List<NumberedField> reserveNumbers(StructType columns, int tasks) {
    return identities.stream()
        .map(this::numbered)
        .map(field -> reservesInTasks
                || (field.ordinal() < columns.length()
                    && !columns.apply(field.ordinal()).nullable())
            ? field
            : field.reserving(target.table(), tasks))
        .toList();
  }

  private NumberedField numbered(Identity identity) {
    List<FieldSpec> written = fields.written();
    int ordinal = IntStream.range(0, written.size())
        .filter(i -> written.get(i).id() == identity.fieldId())
        .findFirst()
        .orElseThrow();
    return new NumberedField(ordinal, written.get(ordinal).name(), identity, null, 0);
  }

  WriteOptions writeOptions() {
    return conf.writeOptions();
  }

  String location() {
    return target.table().storage().location();
  }

  /** Returns where the tasks find the table. */
  TableLocation tableLocation() {
    return TableLocation.of(target.table().storage());
  }

  /**
   * Tells whether tasks check their shards, so that the driver need not ask for hundreds of them.
   * The driver checks local files itself: they may be on another machine than the driver's.
   */
  static boolean isCheckedByTasks(Storage storage) {
    return storage.isRemote();
  }

  /**
   * Publishes the shards, or deletes them if the transaction took effect before.
   *
   * @param oldestFileMillis the least time that the tasks report; of no use if the driver checks
   */
  public void publish(List<ShardSummary> shards, long oldestFileMillis) {
    List<ShardSummary> inOrder = partitions.inOrder(shards);
    Optional<TableSnapshot> base = target.settledBase();
    TableChangeBuilder planned = (kind == TableChange.Kind.MERGE
            ? partitions.replacing(base.orElseThrow(), replaced, fields.table(), inOrder)
            : TableChange.of(kind, fields.table()))
        .commitId(commitId)
        .base(base)
        .shards(inOrder)
        .evaluated(target.evaluated())
        .partitionedBy(partitions.fieldIds())
        .assigned(identities)
        .transaction(transaction)
        .properties(CommitProperties.of(SparkSession.active().sparkContext()));
    if (kind == TableChange.Kind.APPEND && target.isReadByItsAppend()) {
      base.ifPresent(version -> planned.isolation(version.isolation()));
    }
    if (target.creation() != WriteTarget.Creation.APPEND) {
      // What the table declared is replaced as its fields are.
      planned.declaring(target.declared().apply(fields.table()));
    }
    TableChange change = planned.build();
    OptionalLong expected = conf.expectedVersion();
    if (expected.isPresent()) {
      change = change.expecting(expected.getAsLong());
    }
    RecordTable table = target.table();
    TableSnapshot current = isCheckedByTasks(table.storage())
        ? table.commitChecked(change, oldestFileMillis)
        : table.commit(change);
    if (!current.commitId().equals(commitId)) {
      LOG.info(
          "Nothing was written to {}: {} took effect before",
          location(),
          transaction.map(Object::toString).orElse("the transaction"));
      discard(shards);
    }
    Reloads.committed(table.storage());
  }

  /** Deletes shards that no version names, as far as possible. */
  void discard(List<ShardSummary> shards) {
    target.table().discard(shards);
  }
}
