package io.zrecord.changes;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.PlacedShards;
import io.zrecord.internal.table.PlacedShards.Placed;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.table.MergeChange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Tells what versions of a table changed. Reads manifests and lists of shards that the version does
 * not share with the version before, and no record that did not change. Thread-safe.
 *
 * <pre>{@code
 * TableChanges.of(storage).between(3, 7).forEach(version -> version.shards().forEach(shard -> {
 *   RecordChanges records = shard.read(storage);
 *   …
 * }));
 * }</pre>
 */
public final class TableChanges {
  private static final String RELAYOUT = "relayout";

  private final Storage storage;
  private final ManifestLog log;

  private TableChanges(Storage storage) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
  }

  /** Prepares to tell what versions of a table changed. Reads nothing. */
  public static TableChanges of(Storage storage) {
    return new TableChanges(storage);
  }

  /**
   * Returns what each version after {@code from} up to {@code to} changed, oldest first. Each is
   * read when the stream comes to it.
   *
   * @param from a version, or −1 for the time before the first version
   * @throws IllegalArgumentException if {@code from} is greater than {@code to}, or less than −1
   * @throws VersionNotFoundException if a version was expired, or does not exist
   */
  public Stream<VersionChanges> between(long from, long to) {
    requireInOrder(from, to);
    return LongStream.rangeClosed(from + 1, to).mapToObj(this::of);
  }

  private static void requireInOrder(long from, long to) {
    if (from < -1 || from > to) {
      throw new IllegalArgumentException("Cannot tell what changed from version " + from
          + " to version " + to + ": give 0 or more, the smaller first");
    }
  }

  /**
   * Returns what a version changed.
   *
   * @throws VersionNotFoundException if the version or the version before was expired, or does not
   *     exist
   * @throws ZRecordException if the version does not say what it changed
   */
  public VersionChanges of(long version) {
    return reading(versions -> {
      Manifest after = versions.read(version);
      return versionOf(after.isBeginning() ? null : versions.read(version - 1), after);
    });
  }

  private VersionChanges versionOf(@Nullable Manifest before, Manifest after) {
    return new VersionChanges(
        after.version(),
        Instant.ofEpochMilli(after.timestampMillis()),
        after.operation(),
        before == null ? inserted(after) : changed(before, after));
  }

  private <T> T reading(Function<RetainedVersions, T> reading) {
    return log.reading(
            newest -> reading.apply(new RetainedVersions(log, storage.location(), newest)))
        .orElseThrow(() -> new VersionNotFoundException(
            storage.location(),
            "Cannot tell what changed: there is no table at " + storage.location()));
  }

  private List<ShardChanges> replaced(Manifest before, Manifest after) {
    List<ShardChanges> shards = new ArrayList<>();
    long first = 0;
    for (ShardSummary shard : log.shards(before)) {
      shards.add(ShardChanges.deleted(after.version(), shard, first));
      first += shard.length();
    }
    shards.addAll(inserted(after));
    return shards;
  }

  /**
   * Returns which records differ between two versions, each once, and in which fields. Reads what
   * {@link #between} and {@link ShardChanges#read} read, and no value. Takes memory for the changed
   * records only. A field that the later version does not have is not told, and one that the
   * earlier version does not have is told of the records that got a value.
   *
   * @param from a version, or −1 for the time before the first version
   * @throws IllegalArgumentException if {@code from} is greater than {@code to}, or less than −1
   * @throws VersionNotFoundException if one of the versions was expired or does not exist, does not
   *     say what it changed, or has put the records into another order
   * @throws io.zrecord.errors.MissingFileException if a file is missing
   * @throws CorruptDataException if a file is damaged, or versions contradict what they say that
   *     they changed
   */
  public NetChanges net(long from, long to) {
    requireInOrder(from, to);
    return reading(versions -> new NetChanges(from, to, net(versions, from, to)));
  }

  /** Goes from the newest version to the oldest, which costs one request for each. */
  private RecordChanges net(RetainedVersions versions, long from, long to) {
    Manifest last = versions.read(to);
    Composition composition = new Composition();
    Manifest after = last;
    for (long version = to; version > from; version--) {
      Manifest before =
          version == from + 1 && after.isBeginning() ? null : versions.read(version - 1);
      composition.precede(changes(before, after));
      if (before != null) {
        after = before;
      }
    }
    RecordSchema schema = last.schema();
    return composition
        .all()
        .ofFields(id -> schema.find(id).isPresent()
            || schema.unreadable().stream().anyMatch(field -> field.id() == id));
  }

  private RecordChanges changes(@Nullable Manifest before, Manifest after) {
    if (after.operation().equals(RELAYOUT)) {
      throw untold(
          after, "it put the records into another order, along which no record can be followed");
    }
    RecordChanges changes = RecordChanges.ofShards(versionOf(before, after).read(storage));
    long length = before == null ? 0 : before.length();
    long told = length - changes.deleted().count() + changes.inserted().count();
    if (told != after.length()) {
      throw new CorruptDataException(
          storage.location(),
          "Cannot tell what version " + after.version() + " of " + storage.location()
              + " changed: it has " + after.length() + " records, but what it changed leaves "
              + told + "; verify the table");
    }
    return changes;
  }

  private List<ShardChanges> inserted(Manifest version) {
    List<ShardChanges> shards = new ArrayList<>();
    long first = 0;
    for (ShardSummary shard : log.shards(version)) {
      shards.add(ShardChanges.inserted(version.version(), shard, first));
      first += shard.length();
    }
    return shards;
  }

  private List<ShardChanges> changed(Manifest before, Manifest after) {
    return switch (after.isCare() ? "care" : after.operation()) {
      case "care", "rebalance", RELAYOUT, "schema" -> List.of();
      case "append", "delete", "update", "merge", "addFields", "rewriteField" ->
        compared(before, after);
      // An overwrite may take back what was done to a shard: its records are others.
      case "overwrite" -> replaced(before, after);
      default ->
        throw untold(
            after,
            "it is of the operation '" + after.operation() + "', which this release does not know");
    };
  }

  private List<ShardChanges> compared(Manifest before, Manifest after) {
    if (after.head().properties().containsKey(MergeChange.REWRITTEN_SHARDS)) {
      throw untold(
          after, "it wrote shards to other shards, because very many records were deleted");
    }
    PlacedShards removed = PlacedShards.notIn(log, after, before);
    PlacedShards added = PlacedShards.notIn(log, before, after);
    List<ShardChanges> changes = new ArrayList<>();
    for (Placed then : removed.inOrder()) {
      ShardSummary shard = then.shard();
      added
          .find(shard.id())
          .ifPresentOrElse(
              now -> {
                if (!now.shard().equals(shard)) {
                  changes.add(new ShardChanges(
                      after.version(),
                      shard,
                      then.firstIndex(),
                      now.shard(),
                      now.firstIndex(),
                      rewrittenFields(shard, now.shard())));
                }
              },
              () -> changes.add(ShardChanges.deleted(after.version(), shard, then.firstIndex())));
    }
    for (Placed now : added.inOrder()) {
      if (removed.find(now.shard().id()).isEmpty()) {
        changes.add(ShardChanges.inserted(after.version(), now.shard(), now.firstIndex()));
      }
    }
    return changes;
  }

  /** Returns the fields that have tables in another file now. */
  private static SortedSet<Integer> rewrittenFields(ShardSummary before, ShardSummary after) {
    SortedSet<Integer> fields = new TreeSet<>();
    for (TablesRef file : after.tables()) {
      if (before.tables().stream().noneMatch(known -> known.id().equals(file.id()))) {
        fields.addAll(file.fieldIds());
      }
    }
    return fields;
  }

  private ZRecordException untold(Manifest version, String reason) {
    return new VersionNotFoundException(
        storage.location(),
        "Cannot tell what version " + version.version() + " of " + storage.location() + " changed: "
            + reason + "; compare the records of the versions instead");
  }
}
