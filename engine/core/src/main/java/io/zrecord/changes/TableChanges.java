package io.zrecord.changes;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.PlacedShards;
import io.zrecord.internal.table.PlacedShards.Placed;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.table.MergeChange;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;

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
    if (from < -1 || from > to) {
      throw new IllegalArgumentException("Cannot tell what changed from version " + from
          + " to version " + to + ": give 0 or more, the smaller first");
    }
    return LongStream.rangeClosed(from + 1, to).mapToObj(this::of);
  }

  /**
   * Returns what a version changed.
   *
   * @throws VersionNotFoundException if the version or the version before was expired, or does not
   *     exist
   * @throws ZRecordException if the version does not say what it changed
   */
  public VersionChanges of(long version) {
    return log.reading(newest -> {
          RetainedVersions versions = new RetainedVersions(log, storage.location(), newest);
          Manifest after = versions.read(version);
          List<ShardChanges> shards =
              after.isBeginning() ? inserted(after) : changed(versions.read(version - 1), after);
          return new VersionChanges(
              version, Instant.ofEpochMilli(after.timestampMillis()), after.operation(), shards);
        })
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
      case "care", "rebalance", "relayout", "addFields", "schema" -> List.of();
      case "append", "delete", "update", "merge", "rewriteField" -> compared(before, after);
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
