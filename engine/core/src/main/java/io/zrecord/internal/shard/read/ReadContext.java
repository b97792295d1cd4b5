package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.StoredField;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** State shared by the selections of one reader. Belongs to one thread. */
final class ReadContext {
  /**
   * Number of windows above which a reader releases all shards and starts over, so that the reader
   * does not hold the whole table.
   */
  private static final int MAX_WINDOWS = 4096;

  /** Bytes of windows in memory above which a reader does the same. */
  private static final long MAX_HELD_BYTES = 32L << 20;

  /** The bytes that are read of a compressed field. */
  enum Form {
    VALUES,
    /** Values by slots, as the tables of a shard have them. */
    TABLES,
    /** The prefix and the payload as they are in the chunk. */
    STORED
  }

  private final FieldSpec spec;
  private final byte[] initial;
  private final Form form;
  private final ShardList shards;
  private final Verification verification;
  private final ReadMetrics metrics;
  private final WindowTable table = new WindowTable();
  private final Prefetched prefetched;
  private final ShardParts parts;
  private boolean isStorageKnown;
  private boolean isRemote;
  private boolean isDamaged;
  private boolean isTrying;
  private final Fetcher fetcher;
  private final BlockCheck check;
  private final DecodedValues decoded = new DecodedValues(table);
  private final ChangedValues changedValues;
  private @Nullable BlockReader blocks;

  ReadContext(
      FieldSpec spec,
      Form form,
      ShardList shards,
      Prefetched prefetched,
      Verification verification,
      ReadMetrics metrics) {
    this.spec = spec;
    this.initial = spec.rules().initial().orElse(new byte[0]);
    this.form = form;
    this.shards = shards;
    this.verification = verification;
    this.metrics = metrics;
    this.fetcher = new Fetcher(table, prefetched, metrics);
    this.prefetched = prefetched;
    this.parts = new ShardParts(2L * shards.count());
    this.check = new BlockCheck(verification, table, this::mismatch);
    this.changedValues = new ChangedValues(this);
  }

  FieldSpec spec() {
    return spec;
  }

  /** Returns the width in bytes of each value that is read; -1 if widths differ. */
  int fixedWidth() {
    return form == Form.STORED ? -1 : spec.valueWidthBytes().orElse(-1);
  }

  /** Tells whether the stored bytes differ from the bytes that are read. */
  boolean decodes(StoredField field) {
    return form != Form.STORED && field.codec() != Codec.RAW;
  }

  /** Returns the value of records whose shard lacks the field; empty if it is absent, too. */
  byte[] initial() {
    return initial;
  }

  ShardList shards() {
    return shards;
  }

  Verification verification() {
    return verification;
  }

  ReadMetrics metrics() {
    return metrics;
  }

  WindowTable table() {
    return table;
  }

  BlockCheck check() {
    return check;
  }

  /** Returns what fetches bytes of files that are not mapped. */
  Fetcher fetcher() {
    return fetcher;
  }

  /** Returns the bytes that were asked for before. */
  Prefetched prefetched() {
    return prefetched;
  }

  /** Drops what was fetched for a part of a selection whose values were copied. */
  void dropFetched() {
    fetcher.forget();
    table.dropHeld();
    parts.forEach(ShardPart::forgetWindows);
  }

  /** Returns the memory of values that are decoded when they are selected. */
  DecodedValues decoded() {
    return decoded;
  }

  /** Returns the reader of changed values of one width. */
  ChangedValues changedValues() {
    return changedValues;
  }

  /** Returns the reader of blocks of the field. */
  BlockReader blocks() {
    BlockReader reader = blocks;
    if (reader == null) {
      reader = new BlockReader(this);
      blocks = reader;
    }
    return reader;
  }

  /**
   * Returns the field in a shard, and opens it if necessary.
   *
   * @param source ordinal of the shard, or {@link #changed} of it
   */
  ShardPart part(int source) {
    ShardPart part = parts.get(source);
    if (part == null) {
      part = open(source);
      parts.add(source, part);
    }
    return part;
  }

  /**
   * Tells whether reading takes requests. Asks the storage, which is that of all shards: a field
   * that a shard lacks, or has with another type, has no files to ask.
   *
   * @param ordinal of any shard
   */
  boolean isRemote(int ordinal) {
    if (!isStorageKnown) {
      isRemote = shards.open(ordinal).isRemote();
      isStorageKnown = true;
    }
    return isRemote;
  }

  /** Tells whether bytes that are damaged may be right when they are asked for again. */
  boolean mayComeWrong() {
    return isRemote && form != Form.TABLES;
  }

  /**
   * Opens the shards of some records side by side.
   *
   * @param sources ordinal of the shard of each record
   */
  void open(int[] sources, int count) {
    List<Runnable> opening = new ArrayList<>();
    Set<Integer> seen = new HashSet<>();
    for (int k = 0; k < count; k++) {
      int ordinal = sources[k];
      if (parts.get(ordinal) == null && seen.add(ordinal)) {
        OpenShard shard = shards.open(ordinal);
        opening.add(() -> {
          shard.field(spec);
          shard.patch();
        });
      }
    }
    if (opening.size() > 1) {
      Requests.run(shards.open(sources[0]).path(), opening);
    }
  }

  private ShardPart open(int source) {
    int count = shards.count();
    int ordinal = source < count ? source : source - count;
    OpenShard shard = shards.open(ordinal);
    ShardPatch patch = form == Form.TABLES ? null : ShardPatch.of(shard.patch(), spec);
    long firstIndex = shards.firstIndex(ordinal);
    if (source < count) {
      return new ShardPart(shard, firstIndex, shard.field(spec), patch, table, fetcher, metrics);
    }
    if (patch == null || patch.changed() == null) {
      throw new IllegalArgumentException("No changed values of shard " + ordinal);
    }
    OpenField values = patch.changed().values();
    return new ShardPart(shard, firstIndex, values, null, table, fetcher, metrics);
  }

  /**
   * Returns what stands for the changed values of a shard, whose slots are the ranks of the changed
   * slots.
   */
  int changed(int shardOrdinal) {
    return shards.count() + shardOrdinal;
  }

  /**
   * Returns the index in the dataset of a record.
   *
   * @param source ordinal of the shard, or {@link #changed} of it
   */
  long indexOf(int source, long slot) {
    int count = shards.count();
    if (source < count) {
      return part(source).indexOf(slot);
    }
    ShardPart part = part(source - count);
    ShardPatch patch = java.util.Objects.requireNonNull(part.patch());
    return part.indexOf(
        java.util.Objects.requireNonNull(patch.changed()).slots().slotOf(slot));
  }

  /** Releases shards if there are too many windows. Call this while no selection is in use. */
  void trim() {
    fetcher.forget();
    if (isDamaged
        || table.count() > MAX_WINDOWS
        || parts.count() > MAX_WINDOWS
        || table.heldBytes() > MAX_HELD_BYTES) {
      table.clear();
      decoded.forget();
      if (blocks != null) {
        blocks.clear();
      }
      parts.clear();
      isDamaged = false;
    }
  }

  /**
   * Reads values that nobody has asked for. Damage among them is no reason to open shards again.
   *
   * @return whether no damage was found
   */
  boolean tryRead(Runnable reading) {
    isTrying = true;
    try {
      reading.run();
      return true;
    } catch (CorruptDataException e) {
      return false;
    } finally {
      isTrying = false;
    }
  }

  /**
   * Forgets all shards after damage. The next selection, and a user who opens the dataset again,
   * must find restored files, and not the maps of the old ones or bytes that came wrong.
   */
  void forgetShards() {
    if (isTrying) {
      return;
    }
    isDamaged = true;
    parts.forEach(ShardPart::forgetShard);
  }

  /** Returns the exception for a wrong checksum. */
  CorruptDataException mismatch(String path, String what, int expected, int found) {
    metrics.checksumFailures.increment();
    forgetShards();
    HexFormat hex = HexFormat.of();
    return new CorruptDataException(
        path,
        "Cannot read " + path + ": " + what + " of field '" + spec.name()
            + "' has checksum " + hex.toHexDigits(found) + ", but " + hex.toHexDigits(expected)
            + " was stored. Restore the file from a copy, or leave the records out");
  }

  /**
   * Returns the exception for memory that is gone from a map, after looking for the file that
   * became shorter.
   */
  ZRecordException truncated(InternalError error) {
    forgetShards();
    parts.forEach(part -> part.requireWholeFiles(error));
    return new StorageException(
        spec.name(),
        "Cannot read field '" + spec.name() + "': a mapped file could not be read, although"
            + " its length is right. Check the medium and the system log",
        error);
  }

  /** Returns the exception for a value that its field does not allow. */
  CorruptDataException corrupt(String path, long index, String reason, @Nullable Throwable cause) {
    forgetShards();
    return new CorruptDataException(
        path,
        "Cannot read " + path + ": the value at " + index + " of field '" + spec.name() + "' "
            + reason + ". Restore the file from a copy, or leave the record out",
        cause);
  }
}
