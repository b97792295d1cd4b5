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
 * Removes the manifests of versions that are no longer wanted and nothing else: what they named is left to {@link Sweep}. Cut short at
 * any moment, the versions that are left are whole, and the newest always is.
 *
 * <p>A manifest is renamed first, to a name of its own; then the tags are read; then it is deleted, or renamed back if its version has a
 * tag. Whoever tags looks for the manifest under its name after the tag is there. If he finds it, it has left every name that was given
 * to it before, so that who read the tags too early deletes nothing; and who renames it later reads the tags later. What a run that was
 * cut short set aside is finished by the next in the same way.
 */
final class Expiry {
  private final Storage storage;
  private final ManifestLog log;
  private final TagLog tags;
  private final InstantSource clock;

  /** Versions present and the oldest of them, which are old enough to be removed. */
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
      // Otherwise another run was faster.
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

  /** Deletes manifests that were set aside, or puts them back; returns the versions that have a tag. */
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

  /** Those that are beyond the number and whose successor is old enough. Times rise with the numbers. */
  private Candidates candidates(List<Long> versions, ExpireOptions options) {
    if (!versions.isEmpty()) {
      // Of a later format they might mean more than is known here; those that are removed are read
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
