package io.zrecord.spark.stream;

import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.ShardChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.spark.options.StreamReadConf;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.spark.stream.StreamPosition.Place;
import io.zrecord.spark.stream.StreamPosition.VersionId;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * The versions of a table as a stream looks at them: what each added, and whether one that a
 * checkpoint names is still there. Lives on the driver. Thread-safe.
 */
final class StreamHistory {
  /** Versions that are remembered from one batch to the next, which may begin within one. */
  private static final int MOST_KNOWN = 4;

  /** Most shards of a version whose changes are remembered. */
  private static final int MOST_SHARDS = 1_000;

  private static final String REMEDY = "start the stream with a new checkpoint. A stream needs the"
      + " version that it has come to and all later ones: let expiries keep versions for longer"
      + " than a stream may pause, or give each of these versions a tag";

  private final String location;
  private final RecordTable table;
  private final UUID tableId;
  private final StreamFields fields;
  private final StreamReadConf conf;
  private final Map<Long, VersionRecords> known = new LinkedHashMap<>(16, 0.75f, true) {
    private static final long serialVersionUID = 1L;

    @Override
    protected boolean removeEldestEntry(Map.Entry<Long, VersionRecords> eldest) {
      return size() > MOST_KNOWN;
    }
  };

  /**
   * Looks at the versions of a table.
   *
   * @param opened the version whose fields the stream has
   */
  StreamHistory(String location, TableSnapshot opened, StreamFields fields, StreamReadConf conf) {
    this.location = location;
    this.table = RecordTable.at(opened.storage());
    this.tableId = opened.tableId();
    this.fields = fields;
    this.conf = conf;
  }

  /** Returns the newest version of the table that the stream was opened on. */
  TableSnapshot newest() {
    TableSnapshot newest = table
        .find()
        .orElseThrow(() -> new NotADatasetException(
            location,
            "Cannot go on with the stream of " + location + ": the table was dropped; "
                + "stop the stream"));
    requireSame(newest.tableId(), tableId);
    return newest;
  }

  private void requireSame(UUID found, UUID expected) {
    if (!found.equals(expected)) {
      throw new VersionNotFoundException(
          location,
          "Cannot go on with the stream of " + location + ": there is another table by now, "
              + found + ", and the stream has come to a version of the table " + expected
              + "; start the stream with a new checkpoint");
    }
  }

  /**
   * Requires that the version of a position is there.
   *
   * @throws VersionNotFoundException if it is gone, or is one of another table
   * @throws IllegalArgumentException if the position is that of a stream of records in a stream of
   *     changes, or the other way round
   */
  void requireThere(StreamPosition position, TableSnapshot newest) {
    if (position.isOfChanges() != conf.readsChanges()) {
      throw new IllegalArgumentException(
          "Cannot go on with the stream of " + location
              + ": the checkpoint is that of a stream with " + ZRecordOptions.READ_CHANGES + "="
              + position.isOfChanges() + ", and the option says " + conf.readsChanges()
              + "; give the option of before, which CHANGES has as true, or start with a new checkpoint");
    }
    VersionId id = position.version().orElseThrow();
    requireSame(newest.tableId(), id.table());
    if (id.number() > newest.version()) {
      throw new VersionNotFoundException(
          location,
          "Cannot go on with the stream of " + location + ": the checkpoint is at version "
              + id.number() + ", and the newest version is " + newest.version()
              + ", so the table was put back to an older state; start the stream with a new"
              + " checkpoint");
    }
    TableSnapshot found = version(id.number(), newest);
    if (!found.commitId().equals(id.commit())) {
      throw new VersionNotFoundException(
          location,
          "Cannot go on with the stream of " + location + ": the checkpoint is at version "
              + id.number() + " of commit " + id.commit() + ", and this version is now commit "
              + found.commitId() + ", as after a repair; start the stream with a new checkpoint");
    }
  }

  /**
   * Returns a version.
   *
   * @throws VersionNotFoundException if it was expired
   */
  private TableSnapshot version(long number, TableSnapshot newest) {
    if (number == newest.version()) {
      return newest;
    }
    try {
      TableSnapshot found = table.version(number);
      requireSame(found.tableId(), newest.tableId());
      return found;
    } catch (VersionNotFoundException e) {
      throw gone(number, e);
    }
  }

  private VersionNotFoundException gone(long number, VersionNotFoundException cause) {
    VersionNotFoundException gone = new VersionNotFoundException(
        location,
        "Cannot go on with the stream of " + location + ": it needs version " + number
            + ", which was expired; the versions are " + described() + "; " + REMEDY);
    gone.addSuppressed(cause);
    return gone;
  }

  /**
   * Requires that a stream can begin with what a version added or changed.
   *
   * @throws VersionNotFoundException if the version, or the one before, was expired
   */
  void requireStart(long number, TableSnapshot newest) {
    if (number > newest.version()) {
      return;
    }
    try {
      version(number, newest);
      if (number > 0) {
        version(number - 1, newest);
      }
    } catch (VersionNotFoundException expired) {
      List<Long> numbers = table.versions();
      long first = numbers.stream()
          .filter(found -> found == 0 || numbers.contains(found - 1))
          .findFirst()
          .orElse(newest.version() + 1);
      throw new VersionNotFoundException(
          location,
          "Cannot start a stream of " + location + " with version " + number
              + ": it needs this version and the one before, one of which was expired; give "
              + ZRecordOptions.STARTING_VERSION + "=" + first
              + " or a later version, or start with all records that there are");
    }
  }

  private String described() {
    List<Long> numbers = table.versions();
    return numbers.isEmpty() ? "gone" : numbers.get(0) + " to " + numbers.get(numbers.size() - 1);
  }

  /**
   * Returns all records of a version, for a stream that begins with them.
   *
   * @throws VersionNotFoundException if the version was expired
   */
  VersionRecords all(long number, TableSnapshot newest) {
    TableSnapshot version = version(number, newest);
    fields.requireReadable(version);
    return VersionRecords.all(version);
  }

  /**
   * Returns the records that a version added, or what it changed if the stream has changes.
   *
   * @throws UnsupportedOperationException if the version changed or deleted records, and the stream
   *     neither has changes nor skips such versions
   * @throws VersionNotFoundException if the version or the one before was expired, or the version
   *     does not say what it changed
   */
  synchronized VersionRecords added(long number, TableSnapshot newest) {
    VersionRecords records = known.get(number);
    if (records == null) {
      TableSnapshot version = version(number, newest);
      records = conf.readsChanges()
          ? changedBy(version, newest)
          : VersionRecords.of(Place.ADDED, version, addedBy(version, newest));
      if (records.count() > 0) {
        fields.requireReadable(version);
      }
      if (records.changes() == null || records.changes().shards().size() <= MOST_SHARDS) {
        known.put(number, records);
      }
    }
    return records;
  }

  /** Returns what a version changed, which are records if it only added some. */
  private VersionRecords changedBy(TableSnapshot version, TableSnapshot newest) {
    VersionChanges changes = told(version, newest);
    if (changes.shards().stream().allMatch(shard -> shard.before() == null)) {
      return VersionRecords.of(Place.ADDED, version, inserted(changes));
    }
    fields.requireReadable(version(version.version() - 1, newest));
    return VersionRecords.changed(version, changes);
  }

  private VersionChanges told(TableSnapshot version, TableSnapshot newest) {
    try {
      return TableChanges.of(table.storage()).of(version.version());
    } catch (VersionNotFoundException e) {
      requireBoth(version, newest);
      throw new VersionNotFoundException(
          location,
          "Cannot go on with the stream of the changes of " + location + ": " + e.getMessage()
              + "; start a stream with a new checkpoint, which begins with all records");
    }
  }

  /** Requires that a version and the one before were not expired. */
  private void requireBoth(TableSnapshot version, TableSnapshot newest) {
    version(version.version(), newest);
    version(version.version() - 1, newest);
  }

  private IndexSet addedBy(TableSnapshot version, TableSnapshot newest) {
    Optional<VersionChanges> changes = changesOf(version, newest);
    boolean isChange = changes.isEmpty()
        || changes.get().shards().stream()
            .anyMatch(shard -> changesRecords(shard, version, newest));
    if (isChange && !conf.skipsChanges()) {
      throw Unsupported.operation(
          "a stream of " + location + " over version " + version.version() + ", whose operation '"
              + version.operation() + "' of " + version.timestamp()
              + " changed or deleted records that were there",
          "set " + ZRecordOptions.SKIP_CHANGE_COMMITS
              + "=true to leave out what such versions did, also the records that they added, or"
              + " start a stream with a new checkpoint and " + ZRecordOptions.READ_CHANGES
              + "=true, which has what they changed");
    }
    return isChange ? IndexSet.empty() : inserted(changes.get());
  }

  /** Returns the records of the shards that a version added. */
  private static IndexSet inserted(VersionChanges changes) {
    IndexSet.Builder added = new IndexSet.Builder();
    for (ShardChanges shard : changes.shards()) {
      ShardSummary after = shard.after();
      if (shard.before() == null && after != null && after.length() > 0) {
        added.add(shard.firstAfter(), shard.firstAfter() + after.length());
      }
    }
    return added.build();
  }

  /** Returns what a version did; empty if it changed so much that it does not say what. */
  private Optional<VersionChanges> changesOf(TableSnapshot version, TableSnapshot newest) {
    try {
      return Optional.of(TableChanges.of(table.storage()).of(version.version()));
    } catch (VersionNotFoundException e) {
      requireBoth(version, newest);
      return Optional.empty();
    }
  }

  /**
   * Tells whether records that were there are others now. New fields with values do not count. The
   * answer depends on the versions alone: a batch that is read again has the same records, whatever
   * fields the stream has by then.
   */
  private boolean changesRecords(ShardChanges shard, TableSnapshot version, TableSnapshot newest) {
    ShardSummary before = shard.before();
    if (before == null || before.length() == 0) {
      return false;
    }
    if (shard.after() == null) {
      return true;
    }
    RecordChanges records = shard.read(table.storage());
    if (!records.deleted().isEmpty()) {
      return true;
    }
    if (records.fields().isEmpty()) {
      return false;
    }
    RecordSchema known = version(version.version() - 1, newest).schema();
    return records.fields().keySet().stream()
        .anyMatch(id -> known.find(id).isPresent()
            || known.unreadable().stream().anyMatch(field -> field.id() == id));
  }

  /**
   * Returns the first version that was committed at a time or later.
   *
   * @throws VersionNotFoundException if there is none, or it was expired
   */
  long firstSince(Instant time, TableSnapshot newest) {
    if (newest.timestamp().isBefore(time)) {
      throw new VersionNotFoundException(
          location,
          "Cannot start a stream of " + location + " at " + time + ": its newest version, "
              + newest.version() + ", is of " + newest.timestamp()
              + "; give that time or an earlier one");
    }
    List<Long> numbers = table.versions();
    long oldest = numbers.isEmpty() ? newest.version() : numbers.get(0);
    if (!version(oldest, newest).timestamp().isBefore(time)) {
      if (oldest > 0) {
        throw new VersionNotFoundException(
            location,
            "Cannot start a stream of " + location + " at " + time + ": versions of that time were"
                + " expired; the oldest version is " + oldest + " of "
                + version(oldest, newest).timestamp()
                + "; give a later time, or start with all records that there are");
      }
      return oldest;
    }
    TableSnapshot found = table.asOf(time);
    return found.timestamp().equals(time) ? found.version() : found.version() + 1;
  }
}
