package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TagNames;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The tags of a table (FORMAT.md section 7): lists, reads, publishes and deletes them. Thread-safe.
 */
public final class TagLog {
  private static final int MAX_BYTES = 1 << 16;

  private final Storage storage;

  public TagLog(Storage storage) {
    this.storage = storage;
  }

  /**
   * A tag on disk.
   *
   * @param name name of the tag
   * @param version the version that the tag keeps
   * @param timestampMillis Unix time of the tag's creation
   */
  public record Entry(String name, long version, long timestampMillis) {
    byte[] write() {
      ObjectNode node = SealedJson.object()
          .put("format", JsonObject.FORMAT_VERSION)
          .put("name", name)
          .put("version", version)
          .put("timestampMillis", timestampMillis);
      return SealedJson.seal(node);
    }

    static Entry read(String resource, String expectedName, byte[] file) {
      JsonObject json = SealedJson.open(resource, file).requireFormat();
      Entry entry = new Entry(
          json.string("name"),
          json.integer("version", 0, Long.MAX_VALUE),
          json.integer("timestampMillis", 0, Long.MAX_VALUE));
      if (!entry.name.equals(expectedName)) {
        throw json.corrupt(
            "it is tag '" + entry.name + "', but its name says '" + expectedName + "'");
      }
      return entry;
    }
  }

  /** Returns all tags, sorted by name. */
  public List<Entry> all() {
    List<Entry> entries = new ArrayList<>();
    for (StoredFile file : storage.list(TagNames.DIRECTORY)) {
      // A file that vanished since the directory was read is no tag any more.
      TagNames.tag(file.name()).flatMap(this::find).ifPresent(entries::add);
    }
    entries.sort(java.util.Comparator.comparing(Entry::name));
    return entries;
  }

  /** Returns the versions that have a tag. */
  public Set<Long> versions() {
    return all().stream().map(Entry::version).collect(Collectors.toSet());
  }

  /**
   * Returns the tag of that name, if there is one.
   *
   * @throws io.zrecord.errors.CorruptDataException if the tag is damaged
   */
  public Optional<Entry> find(String name) {
    String file = TagNames.fileOf(name);
    try {
      return Optional.of(Entry.read(storage.pathOf(file), name, storage.read(file, MAX_BYTES)));
    } catch (MissingFileException e) {
      return Optional.empty();
    }
  }

  /** Publishes a tag. Returns {@code false} if the name is taken. */
  public boolean publish(Entry entry) {
    return storage.publish(TagNames.fileOf(entry.name()), entry.write());
  }

  /** Deletes a tag, even a damaged one. Returns whether there was one. */
  public boolean delete(String name) {
    String file = TagNames.fileOf(name);
    if (!storage.exists(file)) {
      return false;
    }
    storage.delete(file);
    storage.forceDirectory(TagNames.DIRECTORY);
    return true;
  }
}
