package io.zrecord.internal.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.shard.fetch.AskedTwice;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** The manifests of a table: lists and reads them, and publishes the next. Thread-safe. */
public final class ManifestLog {
  private final Storage storage;
  private final boolean isOfARepair;

  public ManifestLog(Storage storage) {
    this(storage, false);
  }

  private ManifestLog(Storage storage, boolean isOfARepair) {
    this.storage = storage;
    this.isOfARepair = isOfARepair;
  }

  /**
   * Returns a log for a repair: its newest version is that of the directory. The hint may lead to a
   * version that was given up, and the version before may be given up next.
   */
  public static ManifestLog ofARepair(Storage storage) {
    return new ManifestLog(storage, true);
  }

  Storage storage() {
    return storage;
  }

  /** Returns what tells whether manifests follow one another. */
  public VersionChain chain() {
    return new VersionChain(storage, this);
  }

  /**
   * Returns the numbers of the manifests present, lowest first. Numbers below the floor of the
   * newest version have no meaning.
   */
  public List<Long> listed() {
    List<Long> versions = new ArrayList<>();
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      if (!file.isDirectory()) {
        ManifestNames.version(file.name()).ifPresent(versions::add);
      }
    }
    versions.sort(null);
    return versions;
  }

  /** Returns the newest version; empty if there is no table. */
  public Optional<Manifest> newest() {
    return last().filter(Manifest::isTable);
  }

  /**
   * Returns the manifest with the greatest number, which may be a retraction. The next version
   * follows it.
   */
  public Optional<Manifest> last() {
    NewestVersion newest = new NewestVersion(storage, this);
    return isOfARepair ? newest.greatest() : newest.find();
  }

  /**
   * Returns the hint; empty if there is none that can be read, or if this is the log of a repair.
   */
  public Optional<VersionHint> hint() {
    return isOfARepair ? Optional.empty() : VersionHint.readable(storage);
  }

  /** Leaves a hint that leads to a version, which must have been published. */
  public void leaveHint(Manifest manifest) {
    try {
      VersionHint.write(storage, manifest);
    } catch (RuntimeException e) {
      // Readers then begin further down, or list the directory.
    }
  }

  /**
   * Runs a reading of versions. Runs it again if a file was missing and there is a newer version,
   * because an expiry and a sweep may have come between.
   *
   * @param reading takes the newest version
   * @return empty if there is no table
   */
  public <T> Optional<T> reading(Function<Manifest, T> reading) {
    return reading(this::newest, reading);
  }

  /** Runs a reading as {@link #reading} does, given what {@link #last} returns. */
  public <T> Optional<T> readingLast(Function<Manifest, T> reading) {
    return reading(this::last, reading);
  }

  private static <T> Optional<T> reading(
      Supplier<Optional<Manifest>> latest, Function<Manifest, T> reading) {
    Optional<Manifest> newest = latest.get();
    while (newest.isPresent()) {
      try {
        return Optional.of(reading.apply(newest.get()));
      } catch (MissingFileException e) {
        Optional<Manifest> now = latest.get();
        if (now.map(Manifest::commitId).equals(newest.map(Manifest::commitId))) {
          // Nothing was expired: this is damage.
          throw e;
        }
        newest = now;
      }
    }
    return Optional.empty();
  }

  /**
   * Reads the manifest of a version, even below the floor; {@link RetainedVersions} tells which
   * versions count.
   *
   * @throws MissingFileException if the file does not exist
   * @throws CorruptDataException if the manifest is damaged
   */
  public Manifest read(long version) {
    return file(version).manifest();
  }

  /** Reads the manifest of a version as {@link #read(long)} does. */
  ManifestFile file(long version) {
    String name = ManifestNames.nameOf(version);
    try {
      return AskedTwice.read(
          storage,
          name,
          SealedJson.MAX_BYTES,
          content -> ManifestFile.read(storage.pathOf(name), version, content));
    } catch (CorruptDataException e) {
      throw withWayOut(e);
    }
  }

  /**
   * Reads the version that a tag keeps by its copy.
   *
   * @throws MissingFileException if the copy does not exist
   * @throws CorruptDataException if the copy is damaged, or another file
   */
  public Manifest read(TagEntry tag) {
    return file(tag).manifest();
  }

  /** Reads the copy of a tag as {@link #read(TagEntry)} does. */
  ManifestFile file(TagEntry tag) {
    return AskedTwice.read(
        storage, tag.file(), SealedJson.MAX_BYTES, content -> file(tag, content));
  }

  private ManifestFile file(TagEntry tag, byte[] file) {
    String path = storage.pathOf(tag.file());
    int checksum = SealedJson.checksum(path, file);
    if (file.length != tag.lengthBytes() || checksum != tag.checksum()) {
      throw new CorruptDataException(
          path,
          "Cannot read " + path + ": it has " + file.length + " bytes with checksum "
              + HexFormat.of().toHexDigits(checksum) + ", but tag '" + tag.name() + "' says "
              + tag.lengthBytes() + " with " + HexFormat.of().toHexDigits(tag.checksum())
              + "; restore it from a copy");
    }
    return ManifestFile.read(path, tag.version(), file);
  }

  /** Reads what chains a version to the version before. */
  public Link link(long version) {
    String name = ManifestNames.nameOf(version);
    return AskedTwice.read(
        storage,
        name,
        SealedJson.MAX_BYTES,
        content -> Link.read(storage.pathOf(name), version, content));
  }

  /** Reads a link as {@link #link} does; empty if that is not possible. */
  public Optional<Link> readableLink(long version) {
    try {
      return Optional.of(link(version));
    } catch (MissingFileException
        | CorruptDataException
        | TruncatedFileException
        | UnsupportedFormatException e) {
      return Optional.empty();
    }
  }

  /**
   * Copies the manifest of a version, for a tag.
   *
   * @return the tag, which the caller publishes, or whose copy the caller deletes
   * @throws StorageException if the copy cannot be written
   */
  public TagEntry copy(ManifestFile manifest, String tagName, long nowMillis) {
    String file = TagNames.newFile();
    new Publication(storage).publishNew(file, manifest.content(), "copy of a manifest");
    return manifest.tag(tagName, nowMillis, file);
  }

  static CorruptDataException withWayOut(CorruptDataException e) {
    return new CorruptDataException(
        e.resource(),
        e.getMessage() + "; or read an older version of the table, with the option versionAsOf",
        e);
  }

  /**
   * Returns all shards of a version, including the shards of its lists. Each list is read when one
   * of its shards is wanted.
   */
  public ListedShards shards(Manifest manifest) {
    return ListedShards.of(this, manifest);
  }

  /** Returns the shards of a list, which is not a list of lists. */
  public List<ShardSummary> shards(ShardListFile list) {
    return standing(list, shardsOfFile(list));
  }

  /** Returns the shards that the file of a list has, of which none is replaced yet. */
  public List<ShardSummary> shardsOfFile(ShardListFile list) {
    return content(list, list::readFile);
  }

  /** Returns the shards of a list, given those that its file has. */
  public List<ShardSummary> standing(ShardListFile list, List<ShardSummary> inFile) {
    return list.replaced().in(storage.pathOf(list.file()), inFile);
  }

  /**
   * Returns the shards of a list of a version.
   *
   * @param partitions ids of the partition fields of the version
   * @throws CorruptDataException if a shard does not have one value of each
   */
  public List<ShardSummary> shards(ShardListFile list, List<Integer> partitions) {
    List<ShardSummary> shards = shards(list);
    ManifestRules.requirePartitions(storage.pathOf(list.file()), shards, partitions);
    return shards;
  }

  /**
   * Returns the lists that a list of lists names, with the shards that it replaces. A list whose
   * shards were all deleted has none.
   */
  public List<ShardListFile> members(ShardListFile list) {
    return list.standing(content(list, list::readLists));
  }

  /**
   * Returns the lists of shards of a version, in index order. Reads the lists of lists.
   *
   * @param ofLists takes each list of lists that was read
   */
  public List<ShardListFile> lists(Manifest manifest, Consumer<ShardListFile> ofLists) {
    List<ShardListFile> lists = new ArrayList<>();
    for (ShardListFile list : manifest.lists()) {
      if (list.isOfLists()) {
        lists.addAll(members(list));
        ofLists.accept(list);
      } else {
        lists.add(list);
      }
    }
    return lists;
  }

  private <T> T content(ShardListFile list, BiFunction<String, byte[], T> reading) {
    try {
      return AskedTwice.read(
          storage,
          list.file(),
          SealedJson.MAX_BYTES,
          content -> reading.apply(storage.pathOf(list.file()), content));
    } catch (CorruptDataException e) {
      throw withWayOut(e);
    } catch (MissingFileException e) {
      throw DroppedTable.explained(storage, e);
    }
  }

  /**
   * Returns the shards that the file of a list has, of which none is replaced yet. The list is to
   * be changed, or files are deleted beside it.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the list uses a feature that this
   *     release does not know
   */
  public List<ShardSummary> shardsToChange(ShardListFile list) {
    return content(list, (path, bytes) -> {
      list.requireWritable(path, bytes);
      return list.readFile(path, bytes);
    });
  }

  /** Returns the lists that a file has as {@link #shardsToChange} returns shards. */
  public List<ShardListFile> membersToChange(ShardListFile list) {
    return content(list, (path, bytes) -> {
      list.requireWritable(path, bytes);
      return list.readLists(path, bytes);
    });
  }

  /**
   * Writes shards to new lists. The lists belong to a version as soon as a manifest names them.
   *
   * @param written takes the name of each list before it is written, so that the caller can delete
   *     the list after a failure
   * @return the new lists
   */
  public List<ShardListFile> writeLists(List<ShardSummary> shards, List<String> written) {
    Publication publication = new Publication(storage);
    List<ShardListFile> lists = new ArrayList<>();
    int most = ListLimits.inForce().shards();
    for (int from = 0; from < shards.size(); from += most) {
      List<ShardSummary> part = shards.subList(from, Math.min(shards.size(), from + most));
      String name = newListName();
      byte[] content = ShardListFile.writeFile(part);
      ShardListFile list = ShardListFile.of(name, part, content);
      publication.requireReadable(name, content, path -> list.readFile(path, content));
      written.add(list.file());
      publication.publishNew(name, content, "shard list");
      lists.add(list);
    }
    return lists;
  }

  /** Writes lists to a new list of lists, as {@link #writeLists} writes shards. */
  public ShardListFile writeListOfLists(List<ShardListFile> members, List<String> written) {
    String name = newListName();
    byte[] content = ShardListFile.writeLists(members);
    ShardListFile list = ShardListFile.ofLists(name, members, content);
    Publication publication = new Publication(storage);
    publication.requireReadable(name, content, path -> list.readLists(path, content));
    written.add(list.file());
    publication.publishNew(name, content, "list of shard lists");
    return list;
  }

  private static String newListName() {
    return "list/" + UUID.randomUUID() + ".json";
  }

  /**
   * Publishes a version. If the outcome of an attempt is unclear, the commit id under the version's
   * name decides. While no file has that name, the same bytes are published again, which is safe
   * because the name is taken at most once.
   *
   * @return whether this commit has the version: {@code false} if another commit has it
   * @throws CommitOutcomeUnknownException if that cannot be found out
   */
  public boolean publish(Manifest manifest) {
    return new Publication(storage).publish(manifest, () -> read(manifest.version()));
  }
}
