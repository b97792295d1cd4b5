package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.Manifest.Retention;
import io.zrecord.internal.table.ManifestFile;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RetainedVersions;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Commits a tag with a copy of the tagged manifest. Each tag has a copy of its own: the copy of
 * another tag may be swept as soon as that tag is removed. Belongs to one thread.
 */
final class TagCommit extends CareCommit {
  private final Storage storage;
  private final ManifestLog log;
  private final long version;
  private final String name;
  private @Nullable TagEntry made;
  private OptionalLong sweptBeforeMillis = OptionalLong.empty();

  TagCommit(Storage storage, ManifestLog log, Manifest planned, long version, String name) {
    super("tag", storage.location(), planned);
    this.storage = storage;
    this.log = log;
    this.version = version;
    this.name = name;
  }

  /**
   * Publishes the tag, and deletes the copy if no version names it. Returns the version in force.
   */
  Manifest publish(Committer committer) {
    Manifest published;
    try {
      published = committer.commit(this);
    } catch (CommitOutcomeUnknownException e) {
      // A version may name the copy; otherwise a sweep finds it.
      throw e;
    } catch (ZRecordException e) {
      deleteCopy();
      throw e;
    }
    if (made != null && !published.tags().contains(made)) {
      deleteCopy();
    }
    return published;
  }

  @Override
  public boolean isDone(Manifest newest) {
    return newest.tag(name).filter(tag -> tag.version() == version).isPresent();
  }

  @Override
  void requireFits(Manifest newest) {
    Optional<TagEntry> taken = newest.tag(name);
    if (taken.isPresent()) {
      throw new CommitConflictException(
          storage.location(),
          "Cannot tag version " + version + " of " + storage.location() + " as '" + name
              + "': the name is taken by version " + taken.get().version()
              + "; take another name, or untag that one first");
    }
    RetainedVersions retained = new RetainedVersions(log, storage.location(), newest);
    if (!retained.has(version)) {
      throw retained.notFound(version);
    }
    if (newest.tags().size() >= Manifest.MAX_TAGS) {
      throw new StorageException(
          storage.location(),
          "Cannot tag version " + version + " of " + storage.location() + ": it has "
              + newest.tags().size() + " tags, and at most " + Manifest.MAX_TAGS
              + " are possible; remove tags, or keep a copy of the table");
    }
  }

  @Override
  Retention change(Manifest newest, long nowMillis) {
    List<TagEntry> tags = new ArrayList<>(newest.tags());
    tags.add(copied(newest, nowMillis));
    tags.sort(Comparator.comparing(TagEntry::name));
    return newest.retention().withTags(tags);
  }

  /** Returns the tag with a copy. What was made before may be swept by a sweep that came since. */
  private TagEntry copied(Manifest newest, long nowMillis) {
    TagEntry copy = made;
    if (copy == null || !sweptBeforeMillis.equals(newest.sweptBeforeMillis())) {
      deleteCopy();
      sweptBeforeMillis = newest.sweptBeforeMillis();
      ManifestFile manifest = new RetainedVersions(log, storage.location(), newest).file(version);
      copy = log.copy(manifest, name, nowMillis);
      made = copy;
    }
    return copy;
  }

  private void deleteCopy() {
    TagEntry copy = made;
    if (copy != null) {
      try {
        storage.delete(copy.file());
      } catch (ZRecordException e) {
        // An orphan costs space only.
      }
    }
  }
}
