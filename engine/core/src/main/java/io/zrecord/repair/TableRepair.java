package io.zrecord.repair;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.CheckListener;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.dataset.RepairAction;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.io.LocalFiles;
import io.zrecord.internal.table.Link;
import io.zrecord.internal.table.ListedShards;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.Restoration;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.internal.table.VersionHint;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Moves damaged manifests aside that are newer than every readable one, and publishes the newest
 * readable version again, with a floor above every gap and with the copies of lost tags. The new
 * version has the number of one that was given up; its commit tells the two apart. Everything else
 * of a table is immutable.
 */
final class TableRepair {
  private static final String SUFFIX = ".damaged-";

  /** Name of a manifest moved aside, and the commit of the version that the repair went back to. */
  private static final Pattern ASIDE = Pattern.compile(
      "\\d{20}\\.json\\.damaged-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-\\d+)?");

  private final Storage storage;
  private final boolean restoresPrevious;
  private final ManifestLog log;
  private final Optional<VersionHint> hint;

  TableRepair(Storage storage, boolean restoresPrevious) {
    this.storage = storage;
    this.restoresPrevious = restoresPrevious;
    this.log = new ManifestLog(storage);
    this.hint = VersionHint.readable(storage);
  }

  RepairReport run(CheckListener listener, RepairPlan.Approval approval) {
    AtomicLong aboutManifests = new AtomicLong();
    AtomicLong aboutShards = new AtomicLong();
    DatasetCheck.of(storage).run(finding -> {
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
    if (current == null || !current.isTable()) {
      if (!damaged.isEmpty()) {
        remaining.add("no manifest of " + storage.location()
            + " can be read, so there is no version to go back to: restore a manifest from a copy");
      }
      return List.of();
    }
    Restoration restoration = Restoration.of(storage, log, current);
    OptionalLong lost = damaged.isEmpty() ? lost(current) : OptionalLong.empty();
    boolean isCutShort = isCutShort(current);
    if (damaged.isEmpty() && lost.isEmpty() && !restoration.hasGap() && !isCutShort) {
      return List.of();
    }
    if (!restoresPrevious) {
      remaining.add(
          lost.isPresent()
              ? ManifestNames.HINT + " says that version " + lost.getAsLong()
                  + " was published: restore the manifests after version " + current.version()
                  + " from a copy, or go back to that version by restoring the previous one"
              : damaged.isEmpty() && !restoration.hasGap()
                  ? "a repair that moved manifests aside was cut short: finish it by restoring the"
                      + " previous version"
                  : damaged.isEmpty()
                      ? "version " + (restoration.oldest() - 1)
                          + " is damaged or missing: restore its manifest from a copy, or give "
                          + givenUp(current, restoration) + " up by restoring the previous one"
                      : "version " + damaged.get(0)
                          + " is damaged: restore its manifest from a copy,"
                          + " or go back to version " + current.version()
                          + " by restoring the previous one");
      return List.of();
    }
    current.requireWritable(storage.location());
    List<RepairAction> actions = new ArrayList<>();
    for (long version : damaged) {
      actions.add(moveAside(version, current));
    }
    actions.add(restore(current, restoration));
    if (lost.isPresent()) {
      // Afterwards: while it is there, the next repair finds what was lost if this one is cut
      // short.
      actions.add(new RepairAction(
          "delete " + ManifestNames.HINT + ", which leads to version " + lost.getAsLong()
              + ": version " + current.version() + " with " + current.length()
              + " records becomes the newest one",
          () -> storage.delete(ManifestNames.HINT)));
    }
    return actions;
  }

  /**
   * Tells whether manifests were moved aside to go back to a version, and no repair was published
   * since.
   */
  private boolean isCutShort(Manifest current) {
    Set<String> planned = new HashSet<>();
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      Matcher aside = ASIDE.matcher(file.name());
      if (aside.matches()) {
        planned.add(aside.group(1));
      }
    }
    Manifest manifest = current;
    try {
      while (!planned.isEmpty() && !planned.contains(manifest.commitId().toString())) {
        if (manifest.operation().equals("repair") || manifest.version() == current.oldest()) {
          return false;
        }
        manifest = log.read(manifest.version() - 1);
      }
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      // A gap, which is repaired in the same way.
      return false;
    }
    return !planned.isEmpty();
  }

  /**
   * Returns the version that the hint leads to, if all manifests from there on are missing, or if
   * the manifest of that number is another one.
   */
  private OptionalLong lost(Manifest current) {
    return hint.filter(there -> there.version() == current.version()
            ? there.contradicts(current.link())
                && !log.chain().isOfTableBefore(there, current.link())
            : there.tableId().equals(current.tableId())
                && there.version() >= current.oldest()
                && (there.version() > current.version()
                    || log.readableLink(there.version())
                        .filter(there::contradicts)
                        .isPresent()))
        .map(there -> OptionalLong.of(there.version()))
        .orElse(OptionalLong.empty());
  }

  /** Describes the versions below a gap. */
  private static String givenUp(Manifest current, Restoration restoration) {
    return restoration.oldest() == current.oldest() + 1
        ? "version " + current.oldest()
        : "versions " + current.oldest() + " to " + (restoration.oldest() - 1);
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
      return hasLists(manifest) && !isReplaced(manifest.link(), manifest.operation())
          ? Optional.of(manifest)
          : Optional.empty();
    } catch (CorruptDataException | TruncatedFileException e) {
      // Any other obstacle is no damage: another release, or a later attempt, may read the
      // manifest.
      return Optional.empty();
    }
  }

  /**
   * Tells whether a manifest has replaced that of its version, as far as the hint or the versions
   * before tell.
   */
  private boolean isReplaced(Link link, String operation) {
    Optional<Link> before =
        link.isBeginning() ? Optional.empty() : log.readableLink(link.version() - 1);
    boolean follows = before.filter(link::follows).isPresent();
    if (hint.isPresent() && hint.get().version() >= link.oldest()) {
      boolean isOfRepair = follows && operation.equals("repair");
      if (hint.get().leadsTo(link) || isOfRepair || log.chain().isOfTableBefore(hint.get(), link)) {
        // A repair that was cut short has left the hint of a version that it gave up, or a slow
        // publisher that of a table which was here before.
        return false;
      }
      if (hint.get().contradicts(link) || !hint.get().tableId().equals(link.tableId())) {
        return true;
      }
    }
    // Of two that do not fit, the lower one is right if it follows the one below.
    return before.isPresent() && !follows && isRight(before.get());
  }

  private boolean isRight(Link link) {
    return link.isBeginning()
        || log.readableLink(link.version() - 1).filter(link::follows).isPresent();
  }

  private boolean hasLists(Manifest manifest) {
    try {
      ListedShards shards = log.shards(manifest);
      shards.load(0, shards.length());
      return true;
    } catch (MissingFileException e) {
      return false;
    }
  }

  private RepairAction moveAside(long version, Manifest current) {
    String name = ManifestNames.nameOf(version);
    String suffix = SUFFIX + current.commitId();
    String free = name + suffix;
    for (int i = 2; storage.exists(free) && !isCopy(name, free); i++) {
      free = name + suffix + "-" + i;
    }
    String target = free;
    String text = "move " + name + " to " + target + ": version " + current.version() + " with "
        + current.length() + " records becomes the newest one, and what was committed after it is"
        + " no longer part of the table; the files of the lost version stay";
    return new RepairAction(text, () -> {
      // Another process may have restored the manifest meanwhile.
      if (read(version).isEmpty()) {
        moveAside(name, target);
      }
    });
  }

  /** Gives a file another name. The old name goes when the new one is durable. */
  private void moveAside(String name, String target) {
    if (storage instanceof LocalStorage && !storage.exists(target)) {
      // By a link, so that a file on a bad sector need not be read.
      LocalFiles files = new LocalFiles(Path.of(storage.location()));
      files.moveAside(files.resolve(name), files.resolve(target));
      return;
    }
    if (!storage.publish(target, storage.read(name, SealedJson.MAX_BYTES))
        && !isCopy(name, target)) {
      throw new StorageException(
          storage.pathOf(target),
          "Cannot move " + storage.pathOf(name) + " aside: " + storage.pathOf(target)
              + " exists. Another repair may be under way; run this one again");
    }
    storage.delete(name);
    storage.forceDirectory(ManifestNames.DIRECTORY);
  }

  /** Tells whether a move that was cut short has left both names. */
  private boolean isCopy(String name, String target) {
    try {
      return Arrays.equals(
          storage.read(name, SealedJson.MAX_BYTES), storage.read(target, SealedJson.MAX_BYTES));
    } catch (ZRecordException e) {
      return false;
    }
  }

  private RepairAction restore(Manifest current, Restoration restoration) {
    StringBuilder text = new StringBuilder("publish version " + current.version()
        + " again, as version " + (current.version() + 1) + ", which says that it is a repair");
    if (restoration.hasGap()) {
      text.append(" and gives ")
          .append(givenUp(current, restoration))
          .append(" up, because one of them is damaged or missing");
    }
    for (TagEntry tag : restoration.recovered()) {
      text.append("; tag version ")
          .append(tag.version())
          .append(" as '")
          .append(tag.name())
          .append("', because ")
          .append(tag.file())
          .append(" is a copy of it that lost its tag, or whose tag was removed");
    }
    return new RepairAction(text.toString(), () -> {
      RecordTable.at(storage).restore(current.commitId());
      // It leads to a version that was given up, unless it could be replaced.
      storage.delete(ManifestNames.HINT);
    });
  }
}
