package io.zrecord.table;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.PlacedShards;
import io.zrecord.internal.table.PlacedShards.Placed;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Follows the records of changed shards along the rebalances that have put them into other shards,
 * and changes them there. A rebalance keeps the index of every record, so two neighbouring versions
 * say where each record went. Reads manifests, lists of shards and patches, and no value. Takes
 * some dozens of bytes of memory for each slot that a followed shard's change has, and little for a
 * shard that is removed whole. The next attempt of a commit goes on where the last one ended.
 * Belongs to one thread.
 */
final class FollowedRecords {
  private final ManifestLog log;
  private final String location;
  private final long base;
  private final VersionsSince since;

  /** What was followed, so that the next attempt of a commit goes on from there. */
  private List<TableChange.Replacement> runs = List.of();

  private List<Group> groups = List.of();
  private List<RemovedRecords> removals = List.of();
  private @Nullable Manifest first;
  private @Nullable Manifest reached;

  /**
   * Prepares to follow.
   *
   * @param base the version that the changes were planned on
   * @param since the versions after it
   */
  FollowedRecords(ManifestLog log, String location, long base, VersionsSince since) {
    this.since = since;
    this.log = log;
    this.location = location;
    this.base = base;
  }

  /** Changed records of one shard of the base that are in one shard now. */
  private static final class Group {
    /** The shard of the base. */
    private final UUID origin;

    /** What is changed of these records, in slots of the shard of the base. */
    private final PatchPart part;

    /** The shard where the records are, in the state of the last version that was looked at. */
    private final ShardSummary shard;

    /** The slots of the change, in rising order. */
    private final long[] from;

    /** The slot where each is now. */
    private final long[] to;

    /** The index of each in the shard of the base. */
    private final long[] records;

    private Group(
        UUID origin, PatchPart part, ShardSummary shard, long[] from, long[] to, long[] records) {
      this.origin = origin;
      this.part = part;
      this.shard = shard;
      this.from = from;
      this.to = to;
      this.records = records;
    }

    /** Returns some of the records, which are in another shard now. */
    private Group moved(ShardSummary now, int first, int end, long[] places) {
      return new Group(
          origin,
          part.within(from[first], from[end - 1]),
          now,
          Arrays.copyOfRange(from, first, end),
          Arrays.copyOfRange(places, first, end),
          Arrays.copyOfRange(records, first, end));
    }
  }

  /** What patches say of shards, each looked at once for all groups. */
  private static final class Seen {
    private final Carrier carrier;
    private final Map<UUID, Optional<RankedBitmap>> deleted = new HashMap<>();
    private final Map<List<@Nullable PatchRef>, long[]> changed = new HashMap<>();

    private Seen(Carrier carrier) {
      this.carrier = carrier;
    }

    /** Returns the deleted slots of a shard, of which one state is asked for. */
    private @Nullable RankedBitmap deletedOf(ShardSummary shard) {
      return deleted
          .computeIfAbsent(shard.id(), id -> Optional.ofNullable(carrier.deletedOf(shard)))
          .orElse(null);
    }

    /** Requires that no other commit has changed a record of a group. */
    private void requireUnchanged(Group group, ShardSummary now) {
      long[] others = changes(group.origin, group.shard, now);
      carrier.requireDisjoint(group.origin, group.to, group.records, others);
    }

    /** Requires that no other commit has changed a record that is removed. */
    private void requireUnchanged(RemovedRecords records, ShardSummary now) {
      records.firstOf(changes(records.origin(), records.shard(), now)).ifPresent(slot -> {
        RankedBitmap before = carrier.deletedOf(records.shard());
        throw carrier.changedRecord(
            records.origin(),
            records.record()
                + RemovedRecords.index(before, slot)
                - RemovedRecords.index(before, records.first()));
      });
    }

    /** Returns the slots of a shard that other commits have changed. */
    private long[] changes(UUID origin, ShardSummary before, ShardSummary now) {
      if (!Carrier.isOfSameTables(before, now)) {
        throw carrier.conflict(
            origin, "the shard that has its records was written again by another commit");
      }
      return changed.computeIfAbsent(
          Arrays.asList(before.patch(), now.patch()),
          patches -> carrier
              .changesBetween(before, now)
              .map(between -> between.slots)
              .orElse(new long[0]));
    }
  }

  /**
   * Returns what takes the place of shards that have the records now.
   *
   * @param missing narrow replacements of shards that the newest version does not have
   * @throws io.zrecord.errors.CommitConflictException if the records cannot be followed, or one of
   *     them was changed
   */
  List<TableChange.Replacement> follow(
      Carrier carrier, List<TableChange.Replacement> missing, Manifest newest) {
    missing.forEach(carrier::requireKeptRecords);
    RetainedVersions versions = new RetainedVersions(log, location, newest);
    Manifest before = begin(carrier, missing, versions, newest);
    for (long version = before.version() + 1; version <= newest.version(); version++) {
      Manifest after = read(carrier, versions, version, newest);
      if (Commutation.Operation.of(after) == Commutation.Operation.REBALANCE) {
        follow(carrier, before, after);
      }
      before = after;
      reached = after;
    }
    return changed(carrier, newest);
  }

  /** Returns the version up to which the records were followed. */
  private Manifest begin(
      Carrier carrier,
      List<TableChange.Replacement> missing,
      RetainedVersions versions,
      Manifest newest) {
    Manifest last = reached;
    if (last != null
        && runs.equals(missing)
        && read(carrier, versions, last.version(), newest).commitId().equals(last.commitId())) {
      return last;
    }
    runs = missing;
    groups = missing.stream()
        .filter(run -> !run.added().isEmpty())
        .map(run -> begin(carrier, run))
        .toList();
    removals = missing.stream()
        .filter(run -> run.added().isEmpty())
        .map(run -> remove(carrier, run))
        .toList();
    Manifest planned = read(carrier, versions, base, newest);
    first = planned;
    reached = planned;
    return planned;
  }

  private Manifest read(Carrier carrier, RetainedVersions versions, long version, Manifest newest) {
    try {
      return since
          .kept(version, newest)
          .filter(kept -> versions.has(version))
          .orElseGet(() -> versions.readUpwards(version));
    } catch (VersionNotFoundException | MissingFileException e) {
      throw carrier.conflict(
          runs.get(0).removed().get(0).id(),
          "it was replaced, and version " + version + ", which is needed to find its records, was"
              + " expired");
    }
  }

  private static RemovedRecords remove(Carrier carrier, TableChange.Replacement run) {
    ShardSummary shard = narrow(carrier, run);
    return RemovedRecords.of(shard, carrier.deletedOf(shard));
  }

  private static ShardSummary narrow(Carrier carrier, TableChange.Replacement run) {
    ShardSummary shard = run.removed().get(0);
    if (!Carrier.isNarrow(run)) {
      throw carrier.conflict(
          shard.id(), "it was replaced by another commit, and the change has written it again");
    }
    return shard;
  }

  private static Group begin(Carrier carrier, TableChange.Replacement run) {
    ShardSummary shard = narrow(carrier, run);
    Carrier.Changed changed = carrier.changes(run);
    return new Group(
        shard.id(), changed.part, shard, changed.slots, changed.slots, changed.records);
  }

  /** Follows records over a version that has put shards in the place of others. */
  private void follow(Carrier carrier, Manifest before, Manifest after) {
    Step step = new Step(
        new Seen(carrier),
        PlacedShards.notIn(log, after, before),
        PlacedShards.notIn(log, before, after));
    List<Group> moved = new ArrayList<>();
    for (Group group : groups) {
      Optional<Placed> place = step.left(group.shard);
      if (place.isEmpty()) {
        moved.add(group);
      } else {
        step.seen.requireUnchanged(group, place.get().shard());
        move(step, group, place.get(), moved);
      }
    }
    List<RemovedRecords> elsewhere = new ArrayList<>();
    for (RemovedRecords records : removals) {
      Optional<Placed> place = step.left(records.shard());
      if (place.isEmpty()) {
        elsewhere.add(records);
      } else {
        step.seen.requireUnchanged(records, place.get().shard());
        move(step, records, place.get(), elsewhere);
      }
    }
    groups = moved;
    removals = elsewhere;
  }

  /**
   * The step from a version to the next.
   *
   * @param removed the shards that the next version does not have
   * @param added the shards that only the next version has
   */
  private record Step(Seen seen, PlacedShards removed, PlacedShards added) {
    /** Returns where a shard was that the next version does not have. */
    Optional<Placed> left(ShardSummary shard) {
      return removed.find(shard.id()).filter(place -> added.find(shard.id()).isEmpty());
    }

    /** Returns the shard that has a record now. */
    Placed target(UUID origin, long index) {
      return added
          .at(index)
          .filter(found -> removed.find(found.shard().id()).isEmpty())
          .orElseThrow(() ->
              seen.carrier.conflict(origin, "it was replaced, and its records cannot be found"));
    }
  }

  private static void move(
      Step step, RemovedRecords records, Placed place, List<RemovedRecords> moved) {
    RankedBitmap gone = step.seen.deletedOf(place.shard());
    long from = place.firstIndex() + RemovedRecords.index(gone, records.first());
    long end = from + records.count(gone);
    long record = records.record();
    while (from < end) {
      Placed target = step.target(records.origin(), from);
      long to = Math.min(end, target.firstIndex() + target.shard().length());
      RankedBitmap dead = step.seen.deletedOf(target.shard());
      moved.add(new RemovedRecords(
          records.origin(),
          record,
          target.shard(),
          RemovedRecords.slot(dead, from - target.firstIndex()),
          RemovedRecords.slot(dead, to - 1 - target.firstIndex())));
      record += to - from;
      from = to;
    }
  }

  private static void move(Step step, Group group, Placed place, List<Group> moved) {
    long[] indexes = Carrier.indexes(group.to, step.seen.deletedOf(place.shard()));
    int from = 0;
    while (from < indexes.length) {
      Placed target = step.target(group.origin, place.firstIndex() + indexes[from]);
      long shift = place.firstIndex() - target.firstIndex();
      RankedBitmap dead = step.seen.deletedOf(target.shard());
      int to = from;
      while (to < indexes.length && indexes[to] + shift < target.shard().length()) {
        long record = indexes[to] + shift;
        indexes[to++] = dead == null ? record : dead.missing(record);
      }
      moved.add(group.moved(target.shard(), from, to, indexes));
      from = to;
    }
  }

  /** What is changed of a shard of the newest version. */
  private static final class InShard {
    private final List<Group> groups = new ArrayList<>();
    private final List<RemovedRecords> removals = new ArrayList<>();

    private UUID origin() {
      return groups.isEmpty() ? removals.get(0).origin() : groups.get(0).origin;
    }
  }

  private List<TableChange.Replacement> changed(Carrier carrier, Manifest newest) {
    Map<UUID, InShard> byShard = new LinkedHashMap<>();
    groups.forEach(group ->
        byShard.computeIfAbsent(group.shard.id(), id -> new InShard()).groups.add(group));
    removals.forEach(records -> byShard
        .computeIfAbsent(records.shard().id(), id -> new InShard())
        .removals
        .add(records));
    // What was written since the base is in no list of the base.
    PlacedShards present = PlacedShards.notIn(log, Objects.requireNonNull(first), newest);
    Seen seen = new Seen(carrier);
    List<TableChange.Replacement> changed = new ArrayList<>();
    byShard.forEach((id, inShard) -> {
      ShardSummary shard = present
          .find(id)
          .map(Placed::shard)
          .orElseThrow(() ->
              carrier.conflict(inShard.origin(), "it was replaced or removed by another commit"));
      changed.add(changed(carrier, seen, shard, inShard));
    });
    return changed;
  }

  private static TableChange.Replacement changed(
      Carrier carrier, Seen seen, ShardSummary shard, InShard inShard) {
    List<PatchPart> parts = new ArrayList<>();
    for (Group group : inShard.groups) {
      seen.requireUnchanged(group, shard);
      parts.add(group.part.movedTo(group.from, group.to));
    }
    RankedBitmap dead = inShard.removals.isEmpty() ? null : seen.deletedOf(shard);
    long removed = 0;
    for (RemovedRecords records : inShard.removals) {
      seen.requireUnchanged(records, shard);
      removed += records.count(dead);
    }
    if (removed == shard.length()) {
      return new TableChange.Replacement(List.of(shard), List.of());
    }
    for (RemovedRecords records : inShard.removals) {
      parts.add(carrier.deleting(shard, records.first(), records.last(), removed));
    }
    return TableChange.Replacement.ofRows(shard, carrier.join(shard, parts));
  }
}
