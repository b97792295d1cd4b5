package io.zrecord.internal.shard.read;

import io.zrecord.internal.codec.Decoders;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.BlockShape;
import io.zrecord.internal.format.DecodedBlock;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.read.StoredBlock;
import io.zrecord.schema.Codec;
import java.nio.ByteBuffer;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Finds, verifies and decodes the blocks of one reader's field. Decodes between heap arrays: on a
 * map of a truncated file a native decoder would kill the process. Belongs to one thread.
 */
final class BlockReader {
  /** Longest array of stored bytes that is kept for the next block. */
  private static final int MAX_KEPT_BYTES = 1 << 24;

  /** A value with more bytes is decoded when it is copied if its block has no other. */
  private static final int LONG_BYTES = 1 << 16;

  private final ReadContext context;
  private final BlockCache cache = new BlockCache();
  private DecodedBlock whole = new DecodedBlock();
  private byte[] packed = new byte[0];
  private @Nullable ValueCodec held;
  private Codec heldCodec = Codec.RAW;
  private long startNanos;

  // The block that was found last.
  private @Nullable BlockField field;
  private int run;
  private long block;
  private BlockRecord record = new BlockRecord(0, 0, 0, 0, 0, 0, 0, 0);
  private long firstSlot;
  private long endSlot;

  BlockReader(ReadContext context) {
    this.context = context;
  }

  /** Returns the number of the block that was found last. */
  long block() {
    return block;
  }

  /** Returns the first slot of the block that was found last. */
  long firstSlot() {
    return firstSlot;
  }

  /** Returns the slot after the last one of the block that was found last. */
  long endSlot() {
    return endSlot;
  }

  /** Returns the decoded bytes of some values of the block that was found last, about. */
  long rawBytes(int count) {
    return (long) record.rawBytes() * count / record.slots();
  }

  /** Asks for the block that was found last, unless its values are at hand. */
  void want(Fetcher fetcher, ShardPart part, BlockField of) {
    if (cache.find(of, block) == null) {
      long from = record.position();
      fetcher.want(part, of.run(run).chunk(), from, from + record.storedBytes());
    }
  }

  /** Tells whether the block that was found last has one value, of many bytes. */
  boolean isLongAlone() {
    return record.slots() == 1 && record.rawBytes() > LONG_BYTES;
  }

  /** Returns the bytes of the block that was found last, before they were compressed. */
  int rawBytes() {
    return record.rawBytes();
  }

  /** Finds the block of a value. */
  void find(BlockField of, long slot) {
    if (of == field && slot >= firstSlot && slot < endSlot) {
      return;
    }
    long after = block + 1;
    boolean isNext = of == field && slot == endSlot && after < of.endBlock(run);
    // Whatever fails from now on leaves no block.
    field = null;
    int foundRun = isNext ? run : of.runOf(slot);
    long found = isNext ? after : search(of, foundRun, slot);
    context.check().tables().blockRecord(of, found);
    record = of.checked(foundRun, found);
    // A scan and a look-up read a value in the same block.
    boolean follows = !isNext || record.firstSlot() == slot;
    if (!follows || slot < record.firstSlot() || slot >= record.endSlot()) {
      throw of.corrupt(found, record);
    }
    run = foundRun;
    block = found;
    firstSlot = record.firstSlot();
    endSlot = record.endSlot();
    field = of;
  }

  /** Returns the last block of a run that does not begin after a slot. */
  private long search(BlockField of, int inRun, long slot) {
    RunRecord within = of.run(inRun);
    long low = within.firstUnit();
    long high = of.endBlock(inRun) - 1;
    // Blocks of numbers have the same count, and those of texts nearly so.
    long middle =
        low + (long) ((double) (slot - within.firstSlot()) / within.count() * (high - low + 1));
    middle = Math.min(high, Math.max(low, middle));
    int step = 1;
    while (low < high) {
      if (firstSlot(of, middle) <= slot) {
        if (middle == high || firstSlot(of, middle + 1) > slot) {
          return middle;
        }
        low = middle + 1;
        middle = Math.min(high, middle + step);
      } else {
        high = middle - 1;
        middle = Math.max(low, middle - step);
      }
      // Near the first guess at first, and halving what is left from then on.
      if (step < 1 << 6) {
        step *= 4;
      } else {
        middle = (low + high + 1) >>> 1;
      }
    }
    return low;
  }

  private long firstSlot(BlockField of, long number) {
    context.check().tables().blockRecord(of, number);
    return of.firstSlot(number);
  }

  /** Returns the values of the block that was found last, valid until the next call. */
  DecodedBlock decoded(ShardPart part) {
    BlockField of = java.util.Objects.requireNonNull(field);
    DecodedBlock decoded = cache.find(of, block);
    if (decoded != null) {
      return decoded;
    }
    int stored = load(part, of);
    int raw = record.rawBytes();
    decoded = cache.replace(raw);
    try {
      int flags = record.flags();
      decoded.decode(decoder(of.codec()), of.shape(), packed, stored, raw, record.slots(), flags);
    } catch (DataFormatException e) {
      throw damaged(part, of, e);
    }
    cache.keep(of, block);
    trim();
    return decoded;
  }

  /** Returns the block that begins with a slot, as it is stored; null if there is none. */
  @Nullable
  StoredBlock stored(ShardPart part, BlockField of, long slot) {
    find(of, slot);
    if (slot != firstSlot) {
      return null;
    }
    trim();
    int stored = load(part, of);
    return new StoredBlock(
        packed, stored, record.rawBytes(), record.slots(), record.flags(), of.blockBytes());
  }

  /** Copies values of one width to a position of a buffer. */
  void copy(ShardPart part, BlockField of, long slot, int count, ByteBuffer target, int at) {
    int width = of.shape().valueWidth();
    long end = slot + count;
    int to = at;
    try {
      for (long next = slot; next < end; ) {
        find(of, next);
        int taken = (int) (Math.min(endSlot, end) - next);
        int bytes = taken * width;
        if (next == firstSlot
            && next + taken == endSlot
            && target.hasArray()
            && cache.find(of, block) == null) {
          decodeInto(part, of, target.array(), target.arrayOffset() + to);
        } else {
          DecodedBlock decoded = decoded(part);
          target.put(to, decoded.bytes(), (int) (next - firstSlot) * width, bytes);
        }
        next += taken;
        to += bytes;
      }
    } finally {
      end();
    }
  }

  private void decodeInto(ShardPart part, BlockField of, byte[] target, int at) {
    int stored = load(part, of);
    int raw = record.rawBytes();
    int flags = record.flags();
    try {
      if (BlockShape.isAsIs(flags)) {
        System.arraycopy(packed, 0, target, at, raw);
      } else {
        whole.decodeInto(decoder(of.codec()), of.shape(), packed, stored, raw, flags, target, at);
      }
    } catch (DataFormatException e) {
      throw damaged(part, of, e);
    }
    trim();
  }

  /**
   * Copies the stored bytes of the block that was found last, verifies them, returns their count.
   */
  private int load(ShardPart part, BlockField of) {
    int stored = record.storedBytes();
    int chunk = of.run(run).chunk();
    long position = record.position();
    long place = part.place(chunk, position, stored);
    int window = Place.window(place);
    if (packed.length < stored) {
      // The shorter array may go before the longer one exists.
      packed = new byte[0];
      packed = new byte[stored];
    }
    if (window != WindowTable.EMPTY) {
      context.table().copy(window, Place.position(place), packed, 0, stored);
    }
    context.check().block(of, block, record, packed, window);
    context.metrics().bytesRead.add(stored);
    return stored;
  }

  private RuntimeException damaged(ShardPart part, BlockField of, DataFormatException cause) {
    int chunk = of.run(run).chunk();
    int window = Place.window(part.place(chunk, record.position(), record.storedBytes()));
    return context.corrupt(
        window == WindowTable.EMPTY ? of.path() : context.table().path(window),
        part.indexOf(firstSlot),
        "begins a block that cannot be decoded: " + cause.getMessage(),
        cause);
  }

  private void trim() {
    if (packed.length > MAX_KEPT_BYTES) {
      packed = new byte[0];
    }
  }

  private ValueCodec decoder(Codec codec) {
    ValueCodec decoder = held;
    if (decoder == null || heldCodec != codec) {
      end();
      decoder = Decoders.take(codec);
      held = decoder;
      heldCodec = codec;
      startNanos = System.nanoTime();
    }
    return decoder;
  }

  /**
   * Gives the native context back, and the memory of a long value. Call this after some blocks,
   * also after a failure.
   */
  void end() {
    cache.trim();
    if (whole.isLong()) {
      whole = new DecodedBlock();
    }
    ValueCodec decoder = held;
    if (decoder != null) {
      held = null;
      context.metrics().decodeNanos.add(System.nanoTime() - startNanos);
      Decoders.giveBack(heldCodec, decoder);
    }
  }

  /** Forgets what was found and decoded. */
  void clear() {
    field = null;
    cache.clear();
  }
}
