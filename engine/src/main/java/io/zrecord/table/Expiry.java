package io.zrecord.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagLog;
import io.zrecord.storage.Storage;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Removes the manifests of versions that are no longer wanted, oldest first, and nothing else: what they named is left to {@link Sweep}.
 * Cut short at any moment, the versions that are left are whole, and the newest always is.
 *
 * <p>Whoever tags a version looks afterwards whether it is still there, and here tags are looked at again after a version was
 * removed: so one of the two notices the other. A version that was tagged meanwhile is published again as it was.
 */
final class Expiry {
  private final Storage storage;
  private final ManifestLog log;
  private final TagLog tags;
  private final InstantSource clock;

  Expiry(Storage storage, InstantSource clock) {
    this.storage = storage;
    this.log = new ManifestLog(storage);
    this.tags = new TagLog(storage);
    this.clock = clock;
  }

  /** @param versions those present, oldest first; not empty */
  ExpireResult run(List<Long> versions, ExpireOptions options) {
    List<Long> due = due(versions, options);
    Set<Long> tagged = tags.versions();
    List<Long> expired = new ArrayList<>();
    for (long version : due) {
      if (!tagged.contains(version) && (options.mode() == CareMode.DRY_RUN || remove(version))) {
        expired.add(version);
      }
    }
    if (options.mode() == CareMode.DELETE && !expired.isEmpty()) {
      storage.forceDirectory(ManifestNames.DIRECTORY);
    }
    return new ExpireResult(
        options.mode(), expired, due.size() - expired.size(), versions.size() - expired.size());
  }

  /** Those that are beyond the number and whose successor is old enough. Times rise with the numbers. */
  private List<Long> due(List<Long> versions, ExpireOptions options) {
    long latest = clock.millis() - options.olderThan().toMillis();
    int most = versions.size() - options.keepVersions();
    int count = 0;
    while (count < most && log.read(versions.get(count + 1)).timestampMillis() <= latest) {
      count++;
    }
    return versions.subList(0, Math.max(0, count));
  }

  private boolean remove(long version) {
    String name = ManifestNames.nameOf(version);
    byte[] content = storage.read(name, SealedJson.MAX_BYTES);
    storage.delete(name);
    if (!tags.versions().contains(version)) {
      return true;
    }
    storage.publish(name, content);
    return false;
  }
}
