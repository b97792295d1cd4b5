package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Head;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.UnreadableField;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardFields;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Commits a change of fields, maybe together with one of declarations. Follows appends, rebalances
 * of other shards and commits that leave records and fields alone; conflicts with every other
 * change of fields. Belongs to one thread.
 */
final class FieldCommit implements Commit, SinceBase {
  private final Storage storage;
  private final ManifestLog log;
  private final FieldChange change;
  private final Declaring declaring;
  private long oldestFileMillis = Long.MAX_VALUE;

  /** Creates a commit that leaves the declarations alone. */
  FieldCommit(Storage storage, ManifestLog log, FieldChange change) {
    this(storage, log, change, new Declaring(change.base(), change.base().declarations()));
  }

  /** Creates a commit that changes declarations as well. */
  FieldCommit(Storage storage, ManifestLog log, FieldChange change, Declaring declaring) {
    this.storage = storage;
    this.log = log;
    this.change = change;
    this.declaring = declaring;
  }

  @Override
  public UUID commitId() {
    return change.commitId();
  }

  @Override
  public OptionalLong baseVersion() {
    return OptionalLong.of(change.base().version());
  }

  @Override
  public boolean isDone(Manifest newest) {
    return false;
  }

  @Override
  public Optional<SinceBase> sinceBase() {
    return Optional.of(this);
  }

  @Override
  public boolean mayFollowExpired() {
    return Commutation.mayFollowExpired(Commutation.Need.KEPT_FIELDS);
  }

  @Override
  public void requireBase(Manifest base) {
    if (!base.records().commitId().equals(change.base().recordsCommitId())) {
      throw conflict("version " + base.version() + " is not the one on which it was planned, which"
          + " a repair gave up since");
    }
  }

  @Override
  public void requireCommutes(Manifest winner) {
    if (winner.isBeginning()) {
      throw dropped();
    }
    if (!Commutation.mayFollow(Commutation.Need.KEPT_FIELDS, Commutation.Operation.of(winner))) {
      throw conflict("version " + winner.version() + " is of the operation '" + winner.operation()
          + "' and was committed since version " + change.base().version()
          + ", on which it was planned");
    }
  }

  @Override
  public void requireFits(Optional<Manifest> newest) {
    Manifest manifest = required(newest);
    requireSameFields(manifest);
    declaring.requireFits(manifest);
    new DeclarationRules(storage.location(), declaring.kept(manifest.declarations()))
        .requireKept(manifest.schema(), change.schema());
    declaring.after(manifest, change.schema());
    DeclarationRules rules = new DeclarationRules(storage.location(), manifest.declarations());
    List<Integer> given = newFiles()
        .flatMap(files -> files.tables().stream())
        .flatMap(file -> file.fieldIds().stream())
        .toList();
    rules.requireEvaluated(List.of(), given);
    rules.requireGiven(manifest.schema(), given);
  }

  /** Returns each shard that gets values, with the new files only. */
  private Stream<ShardSummary> newFiles() {
    return change.replacements().stream()
        .map(run -> ShardFields.filesOf(run.added().get(0), run.removed().get(0)));
  }

  private Manifest required(Optional<Manifest> newest) {
    return newest
        .filter(manifest -> manifest.tableId().equals(change.base().tableId()))
        .filter(manifest -> manifest.version() >= change.base().version())
        .orElseThrow(this::dropped);
  }

  private CommitConflictException dropped() {
    return conflict("the table on which it was planned was dropped meanwhile");
  }

  /** An append may add fields, too. */
  private void requireSameFields(Manifest newest) {
    RecordSchema base = change.base().schema();
    if (newest.nextFieldId() != change.base().nextFieldId()
        || !definitions(newest.schema()).equals(definitions(base))) {
      throw conflict("the fields of version " + newest.version() + " differ from those of version "
          + change.base().version() + ", on which it was planned");
    }
  }

  private static List<FieldSpec> definitions(RecordSchema schema) {
    return schema.fields().stream()
        .map(field -> field.withCompression(Compression.RAW))
        .toList();
  }

  @Override
  public void checkFiles() {
    List<ShardSummary> changed =
        change.replacements().stream().flatMap(run -> run.added().stream()).toList();
    oldestFileMillis = new ShardCheck(storage)
        .check(changed, TableChange.Replacement.filesBefore(change.replacements()));
  }

  @Override
  public Manifest next(Optional<Manifest> last, long nowMillis, List<String> written) {
    Manifest newest = required(last.filter(Manifest::isTable));
    ShardCommit.requireUnswept(storage.location(), oldestFileMillis, newest);
    ShardSequence sequence = new ShardSequence(log, written);
    Replacements replacements = new Replacements(
        new Carrier(storage, "change of fields", written, false), change.replacements(), false);
    sequence.add(newest, replacements);
    replacements.requireDone();
    RecordSchema schema = schema(newest);
    Head head = Head.after(
        last, change.commitId(), baseVersion(), nowMillis, change.kind().operation(), properties());
    return new Manifest(
        head,
        schema,
        newest.partitions(),
        declaring.after(newest, schema),
        nextFieldId(schema, newest),
        sequence.lists(),
        sequence.rest(),
        newest.transactions(),
        Optional.empty(),
        new Retention(
            head.asRecords(), newest.oldest(), newest.tags(), newest.sweptBeforeMillis()));
  }

  /** Returns the fields of the change; a rebalance may have changed compressions meanwhile. */
  private RecordSchema schema(Manifest newest) {
    List<FieldSpec> fields = change.schema().fields().stream()
        .map(field -> isPlanned(field)
            ? field
            : newest
                .schema()
                .find(field.id())
                .map(present -> field.withCompression(present.compression()))
                .orElse(field))
        .toList();
    return new RecordSchema(fields, change.schema().unreadable());
  }

  private boolean isPlanned(FieldSpec field) {
    return change
        .base()
        .schema()
        .find(field.id())
        .filter(base -> base.compression().equals(field.compression()))
        .isEmpty();
  }

  private static int nextFieldId(RecordSchema schema, Manifest newest) {
    int next = newest.nextFieldId();
    for (FieldSpec field : schema.fields()) {
      next = Math.max(next, Math.addExact(field.id(), 1));
    }
    for (UnreadableField field : schema.unreadable()) {
      next = Math.max(next, Math.addExact(field.id(), 1));
    }
    return next;
  }

  private Map<String, String> properties() {
    Map<String, String> properties = new TreeMap<>(change.properties());
    properties.putIfAbsent("user", System.getProperty("user.name", ""));
    long bytes = newFiles().mapToLong(ShardSummary::chunkBytes).sum();
    properties.put("addedRecords", "0");
    properties.put("removedRecords", "0");
    properties.put("addedBytes", String.valueOf(bytes));
    return properties;
  }

  private CommitConflictException conflict(String reason) {
    return new CommitConflictException(
        storage.location(),
        "Cannot commit the change of fields of " + storage.location() + ": " + reason
            + "; read the newest version and try again");
  }
}
