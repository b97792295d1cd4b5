package io.zrecord.internal.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.storage.Storage;
import java.util.Optional;
import java.util.UUID;

/**
 * Where the newest version of a table was seen (FORMAT.md section 7). Publishers write the file
 * without a promise, so it may be behind, damaged or missing. It is never ahead.
 *
 * @param tableId identity of the table
 * @param version number of a version that was published
 * @param commitId the commit that published the version
 */
public record VersionHint(UUID tableId, long version, UUID commitId) {
  private static final int MAX_BYTES = 4 << 10;

  /**
   * Reads the hint of a table; empty if there is none.
   *
   * @throws CorruptDataException if the hint is damaged
   * @throws TruncatedFileException if the hint is cut
   */
  public static Optional<VersionHint> read(Storage storage) {
    byte[] file;
    try {
      file = storage.read(ManifestNames.HINT, MAX_BYTES);
    } catch (MissingFileException e) {
      return Optional.empty();
    }
    JsonObject json = SealedJson.open(storage.pathOf(ManifestNames.HINT), file).requireFormat();
    return Optional.of(new VersionHint(
        json.uuid("table"), json.integer("version", 0, Long.MAX_VALUE), json.uuid("commit")));
  }

  /** Reads the hint of a table; empty if there is none that can be read. */
  public static Optional<VersionHint> readable(Storage storage) {
    try {
      return read(storage);
    } catch (ZRecordException e) {
      // Nothing is promised of the file: a list of the directory tells the same.
      return Optional.empty();
    }
  }

  /** Writes the hint that leads to a version. */
  static void write(Storage storage, Manifest manifest) {
    var node = SealedJson.object()
        .put("format", JsonObject.FORMAT_VERSION)
        .put("table", manifest.tableId().toString())
        .put("version", manifest.version())
        .put("commit", manifest.commitId().toString());
    storage.replace(ManifestNames.HINT, SealedJson.seal(node));
  }

  /** Tells whether a version is that of the hint. */
  public boolean leadsTo(Link link) {
    return version == link.version()
        && commitId.equals(link.commitId())
        && tableId.equals(link.tableId());
  }

  /** Tells whether a version has the number that the hint leads to, but is another one. */
  public boolean contradicts(Link link) {
    return version == link.version() && !leadsTo(link);
  }

  /** Tells whether a version is of another table than the one that the hint names. */
  boolean isOfAnotherTable(Link link) {
    return !tableId.equals(link.tableId());
  }
}
