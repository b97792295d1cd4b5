package io.zrecord.repair;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.io.LocalFiles;
import io.zrecord.internal.table.Link;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.CheckListener;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Moves damaged manifests aside that are newer than every readable one, and publishes the newest
 * readable version again, so that no commit mistakes the next version for one that was given up.
 * Everything else of a table is immutable.
 */
final class TableRepair {
  private static final String SUFFIX = ".damaged";

  private final Storage storage;
  private final Path path;
  private final boolean restoresPrevious;
  private final ManifestLog log;

  TableRepair(Storage storage, Path path, boolean restoresPrevious) {
    this.storage = storage;
    this.path = path;
    this.restoresPrevious = restoresPrevious;
    this.log = new ManifestLog(storage);
  }

  RepairReport run(CheckListener listener, RepairPlan.Approval approval) {
    AtomicLong aboutManifests = new AtomicLong();
    AtomicLong aboutShards = new AtomicLong();
    DatasetCheck.of(path).run(finding -> {
      listener.finding(finding);
      if (finding.kind().isDamage()) {
        (finding.kind() == Kind.MANIFEST ? aboutManifests : aboutShards).incrementAndGet();
      }
    });
    List<String> remaining = new ArrayList<>();
    List<RepairAction> actions = actions(remaining);
    if (aboutManifests.get() > 0 && actions.isEmpty() && remaining.isEmpty()) {
      remaining.add(aboutManifests.get()
          + " findings are about older manifests, which no newer version needs: restore them from a"
          + " copy if those versions are wanted");
    }
    if (aboutShards.get() > 0) {
      remaining.add(aboutShards.get()
          + " findings are about shards, which are never changed: restore their files from a copy,"
          + " or write the table again without the damaged records");
    }
    RepairPlan plan = new RepairPlan(actions.stream().map(RepairAction::text).toList(), remaining);
    if (actions.isEmpty() || !approval.approves(plan)) {
      return new RepairReport(plan, false);
    }
    actions.forEach(action -> action.step().run());
    return new RepairReport(plan, true);
  }

  private List<RepairAction> actions(List<String> remaining) {
    List<Long> damaged = new ArrayList<>();
    Manifest current = newestReadable(damaged);
    if (damaged.isEmpty()) {
      return List.of();
    }
    if (current == null) {
      remaining.add("no manifest of " + path
          + " can be read, so there is no version to go back to: restore a manifest from a copy");
      return List.of();
    }
    if (!restoresPrevious) {
      remaining.add("version " + damaged.get(0) + " is damaged: restore its manifest from a copy,"
          + " or go back to version " + current.version() + " by restoring the previous one");
      return List.of();
    }
    current.requireWritable(path.toString());
    List<RepairAction> actions = new ArrayList<>();
    for (long version : damaged) {
      actions.add(moveAside(version, current));
    }
    actions.add(restore(current));
    lostCopies(current).ifPresent(remaining::add);
    return actions;
  }

  /**
   * Returns the newest readable manifest, and collects the damaged versions above it, newest first.
   */
  private @Nullable Manifest newestReadable(List<Long> damaged) {
    List<Long> versions = new ArrayList<>(log.listed());
    versions.sort(Comparator.reverseOrder());
    for (long version : versions) {
      Optional<Manifest> manifest = read(version);
      if (manifest.isPresent()) {
        return manifest.get();
      }
      damaged.add(version);
    }
    return null;
  }

  private Optional<Manifest> read(long version) {
    try {
      Manifest manifest = log.read(version);
      return hasLists(manifest) ? Optional.of(manifest) : Optional.empty();
    } catch (CorruptDataException | TruncatedFileException e) {
      // Any other obstacle is no damage: another release, or a later attempt, may read the
      // manifest.
      return Optional.empty();
    }
  }

  private boolean hasLists(Manifest manifest) {
    try {
      log.shards(manifest);
      return true;
    } catch (MissingFileException e) {
      return false;
    }
  }

  /**
   * Describes the copies of manifests that no tag names: the tags may have been made in versions
   * that are given up.
   */
  private Optional<String> lostCopies(Manifest current) {
    Set<String> named = current.tags().stream().map(TagEntry::file).collect(Collectors.toSet());
    List<String> lost = storage.list(TagNames.DIRECTORY).stream()
        .map(file -> TagNames.DIRECTORY + "/" + file.name())
        .filter(name -> TagNames.isFile(name) && !named.contains(name))
        .sorted()
        .toList();
    return lost.isEmpty()
        ? Optional.empty()
        : Optional.of("version " + current.version()
            + " lacks the tags that were made in the versions given up. "
            + String.join(", ", lost)
            + " may be copies of versions that had such tags: tag those versions again, before a"
            + " sweep deletes the copies");
  }

  private RepairAction moveAside(long version, Manifest current) {
    String name = ManifestNames.nameOf(version);
    String free = name + SUFFIX;
    for (int i = 2; storage.exists(free); i++) {
      free = name + SUFFIX + "-" + i;
    }
    String target = free;
    String text = "move " + name + " to " + target + ": version " + current.version() + " with "
        + current.length() + " records becomes the newest one, and what was committed after it is"
        + " no longer part of the table; the files of the lost version stay";
    return new RepairAction(text, () -> {
      // Another process may have restored the manifest meanwhile.
      if (read(version).isEmpty()) {
        LocalFiles files = new LocalFiles(path);
        files.moveAside(files.resolve(name), files.resolve(target));
      }
    });
  }

  private RepairAction restore(Manifest current) {
    long oldest = oldestBefore(current);
    String text = "publish version " + current.version() + " again, as version "
        + (current.version() + 1) + ", which says that it is a repair";
    return new RepairAction(text, () -> {
      // Another process may have restored a manifest, or committed, meanwhile.
      Optional<Manifest> newest = log.newest();
      if (newest.map(Manifest::commitId).equals(Optional.of(current.commitId()))) {
        RecordTable.at(storage).restore(oldest);
      }
    });
  }

  /**
   * Returns the lowest number from which on each manifest is there and follows the one before, up
   * to a version. Others below may have been expired by a version that is given up.
   */
  private long oldestBefore(Manifest current) {
    long oldest = current.version();
    try {
      for (Link link = log.link(oldest); oldest > current.oldest(); oldest--) {
        Link below = log.link(oldest - 1);
        if (!link.previous().equals(Optional.of(below.commitId()))) {
          break;
        }
        link = below;
      }
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      // Whatever is below cannot be told from what an expiry left.
    }
    return oldest;
  }
}
