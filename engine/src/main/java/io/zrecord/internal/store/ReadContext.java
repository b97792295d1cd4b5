package io.zrecord.internal.store;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.scan.Verification;
import io.zrecord.schema.Codec;
import io.zrecord.schema.FieldSpec;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/** What the selections of one reader share. Belongs to one thread. */
final class ReadContext {
  /** Beyond this many windows a reader lets go of all shards and starts afresh, so that it does not hold the whole table. */
  private static final int MAX_WINDOWS = 4096;

  /** What is read of a compressed field. */
  enum Form {
    VALUES,
    /** The prefix and the payload, as they are in the chunk. */
    STORED
  }

  private final FieldSpec spec;
  private final Form form;
  private final ShardList shards;
  private final Verification verification;
  private final ReadMetrics metrics;
  private final WindowTable table = new WindowTable();
  private final @Nullable ShardPart[] parts;
  private int partCount;
  private final BlockCheck check;

  ReadContext(
      FieldSpec spec, Form form, ShardList shards, Verification verification, ReadMetrics metrics) {
    this.spec = spec;
    this.form = form;
    this.shards = shards;
    this.verification = verification;
    this.metrics = metrics;
    this.parts = new ShardPart[shards.count()];
    this.check = new BlockCheck(this);
  }

  FieldSpec spec() {
    return spec;
  }

  /** Bytes of each value that is read; -1 if they differ. */
  int fixedWidth() {
    return form == Form.STORED ? -1 : spec.valueWidthBytes().orElse(-1);
  }

  /** Whether what is stored differs from what is read. */
  boolean decodes(EntryField field) {
    return form == Form.VALUES && field.codec() != Codec.RAW;
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

  /** The field in a shard, opened if it is not yet. */
  ShardPart part(int shardOrdinal) {
    ShardPart part = parts[shardOrdinal];
    if (part == null) {
      OpenShard shard = shards.open(shardOrdinal);
      part = new ShardPart(shard, shard.field(spec), table, metrics);
      parts[shardOrdinal] = part;
      partCount++;
    }
    return part;
  }

  /** To be called when no selection is in use. */
  void trim() {
    if (table.count() > MAX_WINDOWS || partCount > MAX_WINDOWS) {
      table.clear();
      java.util.Arrays.fill(parts, null);
      partCount = 0;
    }
  }

  /** Something is damaged: who opens the dataset again must find files that were restored, and not the maps of the old ones. */
  private void forgetShards() {
    for (ShardPart part : parts) {
      if (part != null) {
        part.forgetShard();
      }
    }
  }

  /** A checksum did not hold. */
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

  /** Memory behind a map is gone: looks for the file that became shorter. */
  ZRecordException truncated(InternalError error) {
    forgetShards();
    for (ShardPart part : parts) {
      if (part != null) {
        part.requireWholeFiles(error);
      }
    }
    return new StorageException(
        spec.name(),
        "Cannot read field '" + spec.name() + "': a mapped file could not be read, although"
            + " its length is right. Check the medium and the system log",
        error);
  }

  /** A value is not what its field allows. */
  CorruptDataException corrupt(String path, long index, String reason, @Nullable Throwable cause) {
    forgetShards();
    return new CorruptDataException(
        path,
        "Cannot read " + path + ": the value at " + index + " of field '" + spec.name() + "' "
            + reason + ". Restore the file from a copy, or leave the record out",
        cause);
  }
}
