package io.zrecord.findings;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * A finding of a check.
 *
 * @param kind what the finding is about
 * @param file full path of the file concerned
 * @param field name of the field; null if the finding is not about a field
 * @param firstIndex index of the first record concerned, in the newest checked version that has the
 *     record; -1 if no record in particular
 * @param count records concerned, from {@code firstIndex} on; 0 if no record in particular
 * @param problem what is wrong, with the values
 * @param stretch the bytes of the damaged value, or a stretch that contains several damaged values;
 *     null if the finding is not about bytes of a chunk
 */
public record Finding(
    Kind kind,
    String file,
    @Nullable String field,
    long firstIndex,
    long count,
    String problem,
    @Nullable Stretch stretch)
    implements Serializable {

  /** Creates a finding that is not about bytes of a chunk. */
  public Finding(
      Kind kind, String file, @Nullable String field, long firstIndex, long count, String problem) {
    this(kind, file, field, firstIndex, count, problem, null);
  }

  /**
   * Bytes of a chunk file.
   *
   * @param file full path of the chunk file
   * @param offset position of the first byte
   * @param lengthBytes number of bytes, ≥ 0
   */
  public record Stretch(String file, long offset, long lengthBytes) implements Serializable {}

  /** The subject of a finding. */
  public enum Kind {
    /** The meta file of a store, or a tables file of a shard apart from its tables. */
    META,
    /** A manifest, or a list of shards that a manifest names. */
    MANIFEST,
    /** A chunk file as a whole: missing, cut, or with a wrong header. */
    CHUNK,
    /** A file of entries or of their checksums as a whole, or a unit of entries. */
    ENTRY_FILE,
    /** An entry that points nowhere. */
    ENTRY,
    /** A value whose bytes, entry or checksum differ from the written data. */
    VALUE,
    /** A list of runs, or the checksums of their units. */
    RUNS,
    /** The bits that tell which values are present. */
    PRESENCE,
    /** A sum in a meta file, tables file or manifest that disagrees with the data. */
    COUNT,
    /**
     * The map from the indices of a version to the indices of the next: damaged, or without a
     * distinct index for every record.
     */
    INDEX_MAP,
    /** The journal of a store. */
    JOURNAL,
    /** The file through which readers follow the writer of a store. */
    LIVE,
    /** A file that nothing names. Not damage. */
    ORPHAN,
    /** Worth knowing. Not damage. */
    NOTE;

    /** Tells whether data are damaged or cannot be relied on. */
    public boolean isDamage() {
      return this != ORPHAN && this != NOTE;
    }

    /**
     * Tells whether the finding is about single values of the named records. Such values are
     * counted, and a repair can remove them.
     */
    public boolean concernsValues() {
      return this == ENTRY || this == VALUE;
    }
  }

  @Override
  public String toString() {
    String where = field == null ? "" : ", field '" + field + "'";
    String which = count == 0
        ? ""
        : count == 1
            ? ", record " + firstIndex
            : ", records " + firstIndex + " to " + (firstIndex + count - 1);
    return file + where + which + ": " + problem;
  }
}
