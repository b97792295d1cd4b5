package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.PlacedShards;
import io.zrecord.internal.table.PlacedShards.Placed;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;

/**
 * The versions that came between the base of a commit and the commit, as far as they were looked
 * at: whether one of them may name a file that was written for the commit. Belongs to one thread.
 */
final class VersionsSince {
  private static final String REPAIR = "repair";

  /** Most shards that kept manifests name by themselves. */
  private static final int MOST_SHARDS = 10_000;

  private long count;

  /** Versions whose shards may be any. */
  private final List<Long> ofAnyShards = new ArrayList<>();

  private boolean isRepaired;

  /** The first manifests, for whoever goes through the versions again, and that of the base. */
  private final Map<Long, Manifest> kept = new HashMap<>();

  private int keptShards;

  /** Takes note of the base. */
  void begin(Manifest base) {
    keep(base);
  }

  private void keep(Manifest version) {
    // A manifest takes more than its shards do.
    int shards = 100 + version.shards().size();
    if (keptShards + shards <= MOST_SHARDS
        && kept.putIfAbsent(version.version(), version) == null) {
      keptShards += shards;
    }
  }

  /**
   * Returns a version, without reading it, if that version was kept, and all from it on that the
   * newest one follows: a repair may have given up what was looked at before.
   */
  Optional<Manifest> kept(long version, Manifest newest) {
    Manifest next = newest;
    for (long number = newest.version() - 1; number >= version; number--) {
      Manifest before = kept.get(number);
      if (before == null || !next.link().follows(before.link())) {
        return Optional.empty();
      }
      next = before;
    }
    return Optional.of(next);
  }

  /** Takes note of a version, once. */
  void add(Manifest version) {
    count++;
    keep(version);
    isRepaired |= version.operation().equals(REPAIR);
    Commutation.Operation operation = Commutation.Operation.of(version);
    if (operation != Commutation.Operation.REBALANCE && operation != Commutation.Operation.CARE) {
      ofAnyShards.add(version.version());
    }
  }

  /**
   * Returns those of some patches of which it is certain that no version names them. A change that
   * was written once may be part of several commits.
   *
   * @param base the version that the commit was planned on
   * @param published the version of the commit, which names none of them
   * @param patched shards with the patches
   */
  List<ShardSummary> unnamed(
      ManifestLog log, String location, long base, Manifest published, List<ShardSummary> patched) {
    boolean areAllKnown = count == published.version() - base - 1;
    if (patched.isEmpty() || !areAllKnown || isRepaired) {
      return List.of();
    }
    try {
      RetainedVersions versions = new RetainedVersions(log, location, published);
      List<ShardSummary> unnamed = new ArrayList<>(patched);
      if (!ofAnyShards.isEmpty()) {
        Manifest planned = versions.read(base);
        for (long version : ofAnyShards) {
          PlacedShards shards = PlacedShards.notIn(log, planned, versions.read(version));
          unnamed.removeIf(shard -> isNamed(shards.find(shard.id()), shard));
        }
      }
      return unnamed;
    } catch (RuntimeException e) {
      // Such as a version that was expired, of which a tag may keep a copy. The commit succeeded.
      return List.of();
    }
  }

  private static boolean isNamed(Optional<Placed> found, ShardSummary patched) {
    return found
        .filter(placed -> Objects.equals(placed.shard().patch(), patched.patch()))
        .isPresent();
  }
}
