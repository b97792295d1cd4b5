package io.zrecord.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestAside;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagLog;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Removes the manifests of versions that are no longer wanted, and nothing else: {@link Sweep}
 * removes the files that the manifests named. If an expiry is cut short at any moment, the
 * remaining versions are whole, and the newest version always remains.
 *
 * <p>A manifest is first renamed to a name of its own. Then the tags are read. Then the manifest is
 * deleted, or renamed back if its version has a tag. A process that makes a tag looks for the
 * manifest under its name after the tag exists. If the tagging process finds the manifest, the
 * manifest has left every name given to it before, so an expiry that read the tags too early
 * deletes nothing. An expiry that renames the manifest later reads the tags later. The next run
 * finishes, in the same way, whatever an interrupted run set aside.
 */
final class Expiry {
  private final Storage storage;
  private final ManifestLog log;
  private final TagLog tags;
  private final InstantSource clock;

  /** The versions present, and the oldest of them that are old enough to be removed. */
  private record Candidates(List<Long> versions, List<Long> due) {}

  Expiry(Storage storage, InstantSource clock) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.tags = new TagLog(storage);
    this.clock = clock;
  }

  ExpireResult run(ExpireOptions options) {
    Candidates candidates = log.reading(versions -> candidates(versions, options));
    List<Long> versions = candidates.versions;
    List<Long> due = candidates.due;
    CareMode mode = options.mode();
    Set<Long> tagged = tags.versions();
    List<Long> untagged =
        due.stream().filter(version -> !tagged.contains(version)).toList();
    if (mode == CareMode.DRY_RUN) {
      return new ExpireResult(
          mode, untagged, due.size() - untagged.size(), versions.size() - untagged.size());
    }
    List<ManifestAside> aside = new ArrayList<>(log.aside());
    List<Long> own = new ArrayList<>();
    for (long version : untagged) {
      // If the manifest is gone, another run was faster.
      log.setAside(version).ifPresent(manifest -> {
        aside.add(manifest);
        own.add(version);
      });
    }
    int othersCount = untagged.size() - own.size();
    own.removeAll(finish(aside));
    return new ExpireResult(
        mode,
        own,
        due.size() - othersCount - own.size(),
        versions.size() - othersCount - own.size());
  }

  /**
   * Deletes manifests that were set aside, or puts them back. Returns the versions that have a tag.
   */
  private Set<Long> finish(List<ManifestAside> aside) {
    if (aside.isEmpty()) {
      return Set.of();
    }
    Set<Long> tagged = tags.versions();
    for (ManifestAside manifest : aside) {
      if (tagged.contains(manifest.version())) {
        log.putBack(manifest.version());
      } else {
        log.delete(manifest);
      }
    }
    storage.forceDirectory(ManifestNames.DIRECTORY);
    return tagged;
  }

  /**
   * Returns the versions that exceed the number to keep and whose successor is old enough. Times
   * rise with the numbers.
   */
  private Candidates candidates(List<Long> versions, ExpireOptions options) {
    if (!versions.isEmpty()) {
      // Manifests of a later format might mean more than is known here; the removed ones are read
      // below.
      log.read(versions.get(0));
      log.read(versions.get(versions.size() - 1));
    }
    long latest = clock.millis() - options.olderThan().toMillis();
    int most = versions.size() - options.keepVersions();
    int count = 0;
    while (count < most && log.read(versions.get(count + 1)).timestampMillis() <= latest) {
      count++;
    }
    return new Candidates(versions, versions.subList(0, count));
  }
}
