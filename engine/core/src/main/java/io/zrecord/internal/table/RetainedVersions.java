package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.format.ManifestNames;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * The versions that the newest version keeps (FORMAT.md section 7): those from its floor on, and
 * those below that have a tag. A retraction keeps none. Thread-safe. Belongs into
 * {@link ManifestLog#reading}, because an expiry may follow the newest version.
 */
public final class RetainedVersions {
  private final ManifestLog log;
  private final String location;
  private final Manifest newest;

  /** The version read last: whoever reads the one below need not read it again. */
  private volatile Link readLast;

  /** What {@link #readUpwards} has read, of the version asked for and of the next one. */
  private volatile List<ManifestFile> readAhead = List.of();

  /**
   * Looks at a version.
   *
   * @param location the table, for messages
   */
  public RetainedVersions(ManifestLog log, String location, Manifest newest) {
    this.log = log;
    this.location = location;
    this.newest = newest;
    this.readLast = newest.link();
  }

  /** Tells whether a version can be read. */
  public boolean has(long version) {
    return isAboveFloor(version) || !newest.tagsOf(version).isEmpty();
  }

  private boolean isAboveFloor(long version) {
    return newest.isTable() && version >= newest.oldest() && version <= newest.version();
  }

  /** Returns the numbers of the versions that can be read, oldest first. */
  public List<Long> numbers() {
    if (!newest.isTable()) {
      return List.of();
    }
    // A number that a damaged or hostile manifest claims must not cost memory without a file.
    Stream<Long> before = log.listed().stream()
        .filter(version -> version >= newest.oldest() && version < newest.version());
    return Stream.of(taggedBelowFloor(), before, Stream.of(newest.version()))
        .flatMap(numbers -> numbers)
        .toList();
  }

  /** Returns the number of versions that can be read. Reads no file. */
  public int count() {
    long count = taggedBelowFloor().count() + newest.version() - newest.oldest() + 1;
    return (int) Math.min(count, Integer.MAX_VALUE);
  }

  private Stream<Long> taggedBelowFloor() {
    return newest.tags().stream()
        .map(TagEntry::version)
        .filter(version -> version < newest.oldest())
        .distinct()
        .sorted();
  }

  /**
   * Reads a version. If its manifest is damaged or missing, or is not the one that the next version
   * follows, the copy that a tag keeps takes its place. Below the floor, there are the copies only.
   * Whoever reads many versions begins at the newest, which costs one request for each.
   *
   * @throws VersionNotFoundException if the version does not exist, or was expired
   * @throws MissingFileException if the manifest is missing: the version was expired since, or the
   *     table is damaged
   */
  public Manifest read(long version) {
    return version == newest.version() ? newest : file(version).manifest();
  }

  /**
   * Reads a version as {@link #read} does, with the next one, whose link is looked at in any case.
   * Whoever reads many versions from the oldest on, with one request for each, asks by this.
   */
  public Manifest readUpwards(long version) {
    readAhead = LongStream.of(version, version + 1)
        .filter(number -> isAboveFloor(number) && number < newest.version())
        .mapToObj(this::readableFile)
        .flatMap(Optional::stream)
        .toList();
    return read(version);
  }

  private Optional<ManifestFile> readableFile(long version) {
    Optional<ManifestFile> known = knownFile(version);
    if (known.isPresent()) {
      return known;
    }
    try {
      return Optional.of(log.file(version));
    } catch (MissingFileException
        | CorruptDataException
        | TruncatedFileException
        | UnsupportedFormatException e) {
      return Optional.empty();
    }
  }

  private Optional<ManifestFile> knownFile(long version) {
    return readAhead.stream()
        .filter(file -> file.manifest().version() == version)
        .findFirst();
  }

  /** Reads the file of a version as {@link #read} does. */
  public ManifestFile file(long version) {
    List<Supplier<ManifestFile>> files = new ArrayList<>();
    if (isAboveFloor(version)) {
      files.add(() -> chained(version));
    }
    newest.tagsOf(version).forEach(tag -> files.add(() -> log.file(tag)));
    if (files.isEmpty()) {
      throw notFound(version);
    }
    return firstReadable(files);
  }

  /**
   * Reads a manifest, and requires that the next version follows it. The next one proves nothing if
   * it cannot be read, or if the one after it does not follow.
   */
  private ManifestFile chained(long version) {
    ManifestFile file = knownFile(version).orElseGet(() -> log.file(version));
    Link link = file.manifest().link();
    Optional<Link> next = readable(version + 1).filter(this::isOfTable);
    boolean fits =
        isOfTable(link) && (next.isEmpty() || next.get().follows(link) || !isFollowed(next.get()));
    if (!fits) {
      throw log.chain().misplaced(version);
    }
    readLast = link;
    return file;
  }

  private boolean isOfTable(Link link) {
    return link.tableId().equals(newest.tableId());
  }

  private boolean isFollowed(Link link) {
    return link.version() == newest.version()
        || readable(link.version() + 1).filter(next -> next.follows(link)).isPresent();
  }

  /** Returns a version; empty if it cannot be read, which whoever wants that version is told. */
  private Optional<Link> readable(long version) {
    Link known = readLast;
    if (known.version() == version) {
      return Optional.of(known);
    }
    Optional<Link> ahead = knownFile(version).map(file -> file.manifest().link());
    if (ahead.isPresent()) {
      return ahead;
    }
    return version == newest.version() ? Optional.of(newest.link()) : log.readableLink(version);
  }

  /** Returns the first file that can be read. Throws what the first one throws if none can. */
  private static ManifestFile firstReadable(List<Supplier<ManifestFile>> files) {
    try {
      return files.get(0).get();
    } catch (CorruptDataException | TruncatedFileException | MissingFileException e) {
      for (Supplier<ManifestFile> other : files.subList(1, files.size())) {
        try {
          return other.get();
        } catch (CorruptDataException | TruncatedFileException | MissingFileException suppressed) {
          e.addSuppressed(suppressed);
        }
      }
      throw e;
    }
  }

  /**
   * Returns the name of the file that describes a version: its manifest, or the copy that a tag
   * keeps.
   *
   * @throws VersionNotFoundException if the version does not exist, or was expired
   */
  public String fileOf(long version) {
    return isAboveFloor(version)
        ? ManifestNames.nameOf(version)
        : newest.tagsOf(version).stream()
            .findFirst()
            .orElseThrow(() -> notFound(version))
            .file();
  }

  /** Returns the exception for a version that cannot be read. */
  public VersionNotFoundException notFound(long version) {
    return new VersionNotFoundException(
        location,
        "Cannot read version " + version + " of " + location + ": "
            + (version >= 0 && version < newest.version() ? "it was expired; " : "")
            + "the versions are " + described());
  }

  /** Describes the versions, such as {@code 3, 7 to 9}. */
  public String described() {
    StringBuilder text = new StringBuilder();
    taggedBelowFloor().forEach(version -> text.append(version).append(", "));
    text.append(newest.oldest());
    if (newest.version() > newest.oldest()) {
      text.append(" to ").append(newest.version());
    }
    return text.toString();
  }
}
