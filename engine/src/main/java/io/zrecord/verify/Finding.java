package io.zrecord.verify;

import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * Something that a check found.
 *
 * @param kind what it is about
 * @param file full path of the file concerned
 * @param field name of the field, null if it is not about one
 * @param firstIndex index of the first record concerned, in the newest of the checked versions that has it; -1: none in particular
 * @param count records concerned, from {@code firstIndex} on; 0: none in particular
 * @param problem what is wrong, and with which values
 * @param stretch the bytes of the value that is damaged, or, of several, those that they are among; null if it is not about such
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

  /** A finding that is not about bytes in a chunk. */
  public Finding(
      Kind kind, String file, @Nullable String field, long firstIndex, long count, String problem) {
    this(kind, file, field, firstIndex, count, problem, null);
  }

  /**
   * Bytes of a chunk file.
   *
   * @param file full path of the chunk file
   * @param offset of the first byte
   * @param lengthBytes how many, ≥ 0
   */
  public record Stretch(String file, long offset, long lengthBytes) implements Serializable {}

  /** What a finding is about. */
  public enum Kind {
    /** The meta file of a shard or store. */
    META,
    /** A manifest, or a list of shards that it names. */
    MANIFEST,
    /** A chunk file as a whole: missing, cut, or its header. */
    CHUNK,
    /** A file of entries or of their checksums as a whole. */
    ENTRY_FILE,
    /** An entry that points to nowhere. */
    ENTRY,
    /** A value: its bytes, its entry or its checksum are not what was written. */
    VALUE,
    /** A file of runs. */
    RUNS,
    /** Bits that say which values are present. */
    PRESENCE,
    /** A sum in a meta file or manifest that is not that of the data. */
    COUNT,
    /** The map from the indices of a version to those of the next: it is damaged, or not every record has one index of its own. */
    INDEX_MAP,
    /** The journal of a store. */
    JOURNAL,
    /** The file by which readers follow the writer of a store. */
    LIVE,
    /** A file that nothing names; no damage. */
    ORPHAN,
    /** Worth knowing; no damage. */
    NOTE;

    /** Whether data are damaged, or cannot be relied on. */
    public boolean isDamage() {
      return this != ORPHAN && this != NOTE;
    }

    /** Whether it is about single values of the records named, which are counted, and which a repair can take away. */
    public boolean concernsValues() {
      return this == ENTRY || this == VALUE;
    }
  }

  /** The same about an index map: what is a record there is no record of a version, and no value of one is lost. */
  Finding ofIndexMap() {
    String which = count == 0
        ? ""
        : "of " + count + " new indices, from that of the former index " + firstIndex + " on: ";
    Kind ofMap = kind.isDamage() ? Kind.INDEX_MAP : kind;
    return new Finding(ofMap, file, null, -1, 0, which + problem, stretch);
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
