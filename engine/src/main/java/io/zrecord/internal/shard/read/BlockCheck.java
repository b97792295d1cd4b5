package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.Run;
import io.zrecord.internal.shard.DenseField;
import io.zrecord.internal.shard.EntryField;
import io.zrecord.internal.shard.Windows;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * Compares checksums. Mapped bytes are first copied to the heap, either to their target or to a
 * scratch array: on a map of a truncated file the intrinsic that computes a checksum would kill the
 * process. Belongs to one thread.
 */
final class BlockCheck {
  /** Small enough to stay in the L1 or L2 cache between the copy and the checksum. */
  private static final int SCRATCH_BYTES = 1 << 16;

  private final WindowTable table;
  private final Mismatch mismatch;
  private final boolean never;
  private final boolean always;
  private final CRC32C crc = new CRC32C();
  private byte[] scratch = new byte[0];
  private long extraBytes;

  /** Makes the exception for bytes whose checksum is wrong. */
  interface Mismatch {
    CorruptDataException of(String path, String what, int expected, int found);
  }

  BlockCheck(Verification verification, WindowTable table, Mismatch mismatch) {
    this.table = table;
    this.mismatch = mismatch;
    this.never = verification == Verification.NEVER;
    this.always = verification == Verification.ALWAYS;
  }

  /** Returns the bytes read only for checks since the last call. */
  long takeExtraBytes() {
    long bytes = extraBytes;
    extraBytes = 0;
    return bytes;
  }

  /** Tells whether no value of the field needs a check. */
  boolean isSettled(EntryField field) {
    return never || !field.hasChecksums() || (!always && field.isAllVerified());
  }

  /** Tells whether a value must be checked before it is handed out. */
  boolean isDue(EntryField field, long index) {
    return !never && field.hasChecksums() && (always || !field.isVerified(index));
  }

  /** Checks an absent value: the entry must have been written as absent. */
  void absent(EntryField field, long index, long globalIndex) {
    finish(field, Kind.ABSENT, index, globalIndex, 0, WindowTable.EMPTY);
  }

  /** Checks stored bytes in place. */
  void value(EntryField field, long index, long globalIndex, int window, int position, int length) {
    crc.reset();
    forEachPiece(window, position, length, (offset, step) -> {});
    finish(field, Kind.VALUE, index, globalIndex, (int) crc.getValue(), window);
  }

  /** Copies stored bytes and checks the copy. */
  void copyValue(
      EntryField field,
      long index,
      long globalIndex,
      int window,
      int position,
      int length,
      ByteBuffer target,
      int at) {
    crc.reset();
    if (target.hasArray()) {
      int offset = target.arrayOffset() + at;
      table.copy(window, position, target.array(), offset, length);
      crc.update(target.array(), offset, length);
    } else {
      forEachPiece(
          window, position, length, (offset, step) -> target.put(at + offset, scratch, 0, step));
    }
    finish(field, Kind.VALUE, index, globalIndex, (int) crc.getValue(), window);
  }

  private void finish(
      EntryField field, Kind kind, long index, long globalIndex, int crcOfBytes, int window) {
    int found = field.binding().bind(kind, index, crcOfBytes);
    int expected = field.storedChecksum(index);
    if (found != expected) {
      String path = window == WindowTable.EMPTY ? field.path() : table.path(window);
      throw mismatch.of(path, "the value at " + globalIndex, expected, found);
    }
    field.setVerified(index);
  }

  /** Takes the piece of a value in the scratch array. */
  private interface PieceUse {
    void use(int offset, int length);
  }

  private void forEachPiece(int window, int position, int length, PieceUse use) {
    byte[] buffer = scratch();
    int number = window;
    int at = position;
    for (int done = 0; done < length; ) {
      int capacity = table.get(number).capacity();
      int step = Math.min(Math.min(length - done, buffer.length), capacity - at);
      table.copy(number, at, buffer, 0, step);
      crc.update(buffer, 0, step);
      use.use(done, step);
      done += step;
      at += step;
      if (at == capacity) {
        number++;
        at = 0;
      }
    }
  }

  /** Tells whether no block of the field needs a check. */
  boolean isSettled(DenseField field) {
    return never || !field.hasChecksums() || (!always && field.isAllVerified());
  }

  /** Tells whether a block of a run must be checked before its bytes are handed out. */
  boolean isDue(DenseField field, long block) {
    return !never && field.hasChecksums() && (always || !field.isVerified(block));
  }

  /** Checks the blocks that contain the bytes {@code [from, to)} of a run. */
  void blocks(ShardPart part, DenseField field, int runOrdinal, long from, long to) {
    Run run = field.run(runOrdinal);
    for (long block = from / Run.BLOCK_BYTES; block * Run.BLOCK_BYTES < to; block++) {
      if (isDue(field, run.firstBlock() + block)) {
        int length = (int)
            Math.min(Run.BLOCK_BYTES, run.count() * field.widthBytes() - block * Run.BLOCK_BYTES);
        extraBytes += length;
        copyBlock(part, field, runOrdinal, block, length, scratch(), 0);
      }
    }
  }

  /** Copies a whole block of a run and checks the copy. */
  void copyBlock(
      ShardPart part,
      DenseField field,
      int runOrdinal,
      long block,
      int length,
      byte[] target,
      int offset) {
    Run run = field.run(runOrdinal);
    int chunk = field.chunkOrdinal(runOrdinal);
    long position = run.offset() + block * Run.BLOCK_BYTES;
    int window = part.ready(chunk, position, length);
    table.copy(window, part.within(chunk, position), target, offset, length);
    crc.reset();
    crc.update(target, offset, length);
    long unit = run.firstBlock() + block;
    int found = field.binding().bind(Kind.BLOCK, unit, (int) crc.getValue());
    int expected = field.blockChecksum(unit);
    if (found != expected) {
      throw mismatch.of(
          table.path(window),
          "block " + block + " of the run at byte " + run.offset() + " (records from "
              + run.firstIndex() + " of the shard)",
          expected,
          found);
    }
    field.setVerified(unit);
  }

  /** Checks the block of the validity file that contains the bit of a value. */
  void validity(DenseField field, Windows validity, long index) {
    long position = index >>> 3;
    int block = (int) (position / Run.BLOCK_BYTES);
    if (!never && field.hasChecksums() && (always || !field.isValidityVerified(block))) {
      long from = (long) block * Run.BLOCK_BYTES;
      int length = (int) Math.min(Run.BLOCK_BYTES, validity.endBytes() - from);
      validity.copy(from, scratch(), 0, length);
      crc.reset();
      crc.update(scratch(), 0, length);
      int found = field.binding().bind(Kind.VALIDITY, block, (int) crc.getValue());
      if (found != field.validityChecksum(block)) {
        throw mismatch.of(
            validity.path(),
            "block " + block + " of the presence bits",
            field.validityChecksum(block),
            found);
      }
      field.setValidityVerified(block);
    }
  }

  byte[] scratch() {
    if (scratch.length == 0) {
      scratch = new byte[SCRATCH_BYTES];
    }
    return scratch;
  }
}
