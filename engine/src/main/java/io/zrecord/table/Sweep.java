package io.zrecord.table;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Deletes files that no version of a table names: files of failed writes and of expired versions.
 * Belongs to one thread.
 *
 * <p>The order makes this safe. The sweep first lists the files, then the named files. Files that
 * are named by then or younger than the limit stay, so a writer whose files are younger than the
 * limit until the commit is never hurt. For a slower writer, the sweep looks before each deletion
 * whether a version was committed, and a commit checks its own files before it publishes and fails
 * if one is missing. Neither sees a deletion between that check and the publication, which is about
 * the time of a commit; the new version would lose its files. So the limit must be longer than any
 * write takes.
 *
 * <p>If a sweep is cut short at any moment, all named files are whole.
 */
final class Sweep {
  private static final String SHARDS = "shard";
  private static final String LISTS = "list";
  private static final Pattern MOVED_ASIDE = Pattern.compile("\\d{20}\\.json\\..*");

  /**
   * Orphans between two looks at all changes. Before each orphan the sweep looks only for a new
   * version.
   */
  private static final int REFRESH_INTERVAL = 100;

  private final Storage storage;
  private final NamedFiles named;
  private final CareMode mode;
  private final long youngerThanMillis;
  private final Consumer<Orphan> listener;
  private long deleted;
  private Size found = Size.NONE;
  private Size young = Size.NONE;

  /** The number of files, their bytes, and the last change of the files and their directories. */
  private record Size(long fileCount, long lengthBytes, long modifiedMillis) {
    static final Size NONE = new Size(0, 0, Long.MIN_VALUE);

    Size plus(Size other) {
      return new Size(
          fileCount + other.fileCount,
          lengthBytes + other.lengthBytes,
          Math.max(modifiedMillis, other.modifiedMillis));
    }
  }

  Sweep(Storage storage, InstantSource clock, SweepOptions options, Consumer<Orphan> listener) {
    this.storage = storage;
    this.named = new NamedFiles(storage);
    this.mode = options.mode();
    this.youngerThanMillis = clock.millis() - options.olderThan().toMillis();
    this.listener = listener;
  }

  SweepResult run() {
    List<StoredFile> shards = storage.list(SHARDS);
    List<StoredFile> lists = storage.list(LISTS);
    List<StoredFile> tagFiles = storage.list(TagNames.DIRECTORY);
    refresh();
    named.requireWritable();
    if (mode == CareMode.DELETE) {
      // A power loss must not take back the newest version, which expired what is deleted now.
      storage.forceDirectory(ManifestNames.DIRECTORY);
    }
    for (StoredFile file : lists) {
      String name = LISTS + "/" + file.name();
      sweep(name, sizeOf(name, file), () -> named.namesList(name));
    }
    for (StoredFile file : tagFiles) {
      String name = TagNames.DIRECTORY + "/" + file.name();
      sweep(name, sizeOf(name, file), () -> named.namesTagFile(name));
    }
    sweepTemporaries();
    for (StoredFile file : shards) {
      sweepShard(SHARDS + "/" + file.name(), file);
    }
    return new SweepResult(
        mode, found.fileCount, found.lengthBytes, young.fileCount, young.lengthBytes);
  }

  /**
   * Looks at all changes, in this order: a repair links the new name of a manifest before removing
   * the old one.
   */
  private void refresh() {
    named.refresh();
    requireNothingMovedAside();
  }

  /**
   * Refuses while a damaged manifest lies moved aside by a repair, because the files that it names
   * may still be wanted.
   */
  private void requireNothingMovedAside() {
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      if (MOVED_ASIDE.matcher(file.name()).matches()) {
        String path = storage.pathOf(ManifestNames.DIRECTORY + "/" + file.name());
        throw new StorageException(
            path,
            "Cannot tell what " + storage.location() + " still needs: a repair left " + path
                + ", which cannot be read; delete it when its version is given up");
      }
    }
  }

  /** Sweeps the files that an interrupted {@link Storage#publish} of a manifest may leave. */
  private void sweepTemporaries() {
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      if (file.name().startsWith(".") && file.name().endsWith(".tmp")) {
        String name = ManifestNames.DIRECTORY + "/" + file.name();
        sweep(name, sizeOf(name, file), () -> false);
      }
    }
  }

  private void sweepShard(String name, StoredFile file) {
    Optional<UUID> id = file.isDirectory() ? shardId(file.name()) : Optional.empty();
    BooleanSupplier isNamed = () -> id.isPresent() && named.namesShard(id.get());
    if (isNamed.getAsBoolean()) {
      sweepInside(name, "", named.filesOf(id.orElseThrow()), file.modifiedMillis());
    } else {
      sweep(name, sizeOf(name, file), isNamed);
    }
  }

  /** Sweeps the files of a shard that none of its meta files names. */
  private void sweepInside(
      String shard, String below, Set<String> namedFiles, long directoryMillis) {
    for (StoredFile child : storage.list(below.isEmpty() ? shard : shard + "/" + below)) {
      String relative = below.isEmpty() ? child.name() : below + "/" + child.name();
      if (child.isDirectory()) {
        sweepInside(shard, relative, namedFiles, child.modifiedMillis());
      } else if (!namedFiles.contains(relative)) {
        Size size = sizeOf(relative, child).plus(new Size(0, 0, directoryMillis));
        sweep(
            shard + "/" + relative,
            size,
            () -> named
                .filesOf(shardId(shard.substring(SHARDS.length() + 1)).orElseThrow())
                .contains(relative));
      }
    }
  }

  private void sweep(String name, Size size, BooleanSupplier isNamed) {
    if (isNamed.getAsBoolean()) {
      return;
    }
    if (size.modifiedMillis > youngerThanMillis) {
      young = young.plus(size);
      return;
    }
    if (mode == CareMode.DELETE) {
      if (++deleted % REFRESH_INTERVAL == 0 || named.hasNext()) {
        refresh();
      }
      if (isNamed.getAsBoolean()) {
        return;
      }
      storage.delete(name);
    }
    found = found.plus(size);
    listener.accept(new Orphan(name, size.fileCount, size.lengthBytes));
  }

  private Size sizeOf(String name, StoredFile file) {
    if (!file.isDirectory()) {
      return new Size(1, file.lengthBytes(), file.modifiedMillis());
    }
    // A chunk may be the second name of an old file, so the directories' times count as well.
    Size size = new Size(0, 0, file.modifiedMillis());
    for (StoredFile child : storage.list(name)) {
      size = size.plus(sizeOf(name + "/" + child.name(), child));
    }
    return size;
  }

  private static Optional<UUID> shardId(String directory) {
    try {
      UUID id = UUID.fromString(directory);
      return id.toString().equals(directory) ? Optional.of(id) : Optional.empty();
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }
}
