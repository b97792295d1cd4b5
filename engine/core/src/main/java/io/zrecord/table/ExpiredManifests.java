package io.zrecord.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.Storage;
import java.util.List;

/** Deletes the manifests of expired versions. Thread-safe. */
final class ExpiredManifests {
  private final Storage storage;
  private final ManifestLog log;

  ExpiredManifests(Storage storage, ManifestLog log) {
    this.storage = storage;
    this.log = log;
  }

  /**
   * Deletes the manifests below a floor from the lowest on, each for good before the next, so that
   * a power loss leaves no gap above a manifest that came back. Deletes none above the floor of
   * now, which is lower if a repair went back meanwhile.
   */
  void deleteBelow(long floor) {
    long lowest = Math.min(floor, log.last().map(Manifest::oldest).orElse(0L));
    List<Long> below = log.listed().stream().filter(version -> version < lowest).toList();
    if (!below.isEmpty()) {
      // Another process may have published the floor just now.
      storage.forceDirectory(ManifestNames.DIRECTORY);
    }
    for (long version : below) {
      storage.delete(ManifestNames.nameOf(version));
      storage.forceDirectory(ManifestNames.DIRECTORY);
    }
  }
}
