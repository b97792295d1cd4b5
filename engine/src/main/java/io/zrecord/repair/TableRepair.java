package io.zrecord.repair;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.io.LocalFiles;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TagLog;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.verify.CheckListener;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding.Kind;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Moves damaged manifests aside that are newer than every readable one. Refuses if a tag names such
 * a manifest, because the tag would name whichever version takes the number next. Everything else
 * of a table is immutable.
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
    List<String> tags = tagsAbove(current.version());
    if (!tags.isEmpty()) {
      remaining.add(tagged(damaged, current, tags));
      return List.of();
    }
    List<RepairAction> actions = new ArrayList<>();
    for (long version : damaged) {
      actions.add(moveAside(version, current, damaged.get(damaged.size() - 1)));
    }
    return actions;
  }

  /**
   * Returns the newest readable manifest, and collects the damaged versions above it, newest first.
   */
  private @Nullable Manifest newestReadable(List<Long> damaged) {
    List<Long> versions = new ArrayList<>(log.versions());
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
   * Returns the names of tags whose version would be given up, and of damaged tags whose version is
   * unknown.
   */
  private List<String> tagsAbove(long version) {
    TagLog tags = new TagLog(storage);
    List<String> names = new ArrayList<>();
    for (StoredFile file : storage.list(TagNames.DIRECTORY)) {
      TagNames.tag(file.name())
          .filter(name -> mayNameAbove(tags, name, version))
          .ifPresent(names::add);
    }
    names.sort(null);
    return names;
  }

  private static boolean mayNameAbove(TagLog tags, String name, long version) {
    try {
      return tags.find(name).filter(tag -> tag.version() > version).isPresent();
    } catch (CorruptDataException | TruncatedFileException e) {
      return true;
    }
  }

  private String tagged(List<Long> damaged, Manifest current, List<String> tags) {
    String commands = tags.stream()
        .map(tag -> "zrecord untag " + path + " " + tag)
        .collect(Collectors.joining("; "));
    return "version " + damaged.get(0) + " is damaged, and versions after " + current.version()
        + " have tags or may have: " + String.join(", ", tags)
        + ". Later commits would take their numbers, and the tags would name other records. Restore"
        + " the manifest from a copy, or delete the tags (" + commands + ") and repair again";
  }

  private RepairAction moveAside(long version, Manifest current, long next) {
    String name = ManifestNames.nameOf(version);
    String free = name + SUFFIX;
    for (int i = 2; storage.exists(free); i++) {
      free = name + SUFFIX + "-" + i;
    }
    String target = free;
    String text = "move " + name + " to " + target + ": version " + current.version() + " with "
        + current.length() + " records becomes the newest one, what was committed after it is no"
        + " longer part of the table, and the next commit takes the number " + next
        + "; the files of the lost version stay";
    return new RepairAction(text, () -> {
      // Another process may have restored the manifest meanwhile.
      if (read(version).isEmpty()) {
        requireUntagged(current);
        LocalFiles files = new LocalFiles(path);
        files.moveAside(files.resolve(name), files.resolve(target));
      }
    });
  }

  /** Checks for tags that were made while the plan was being approved. */
  private void requireUntagged(Manifest current) {
    List<String> tags = tagsAbove(current.version());
    if (!tags.isEmpty()) {
      throw new StorageException(
          path.toString(),
          "Cannot go back to version " + current.version() + " of " + path
              + ": later versions have the tags " + String.join(", ", tags)
              + ", made meanwhile; repair again");
    }
  }
}
