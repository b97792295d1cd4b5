package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.ValueCodec;
import io.zrecord.internal.shard.EntryField;
import io.zrecord.internal.shard.FixedRuns;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Any records: a slot for each record holds the window and the position of its bytes. Selecting
 * fills the slots and looks entries up a block at a time, so that cache misses overlap. Copying
 * then knows the next places, and touches values ahead.
 *
 * <p>Raw values are verified when they are copied, as part of the copy. Compressed values are
 * verified when they are selected: their length precedes them and must not be trusted before.
 * Belongs to one thread.
 */
final class SlotSelection implements Selection {
  private static final byte ABSENT = 1;
  private static final byte UNVERIFIED = 2;
  private static final byte ENCODED = 4;
  private static final byte CROSSING = 8;

  /** Values touched ahead of their copies: 16 and 64 are 3 to 5 % slower at 1 KiB. */
  private static final int AHEAD = 32;

  /** Number of entries looked up before the first of them is used. */
  private static final int LOOKUPS = 256;

  private final ReadContext context;
  private final WindowTable table;
  private final int fixedWidth;
  private final long[] words = new long[2 * LOOKUPS];
  private final SlotDecoder decoder;

  private int count;
  private int absentCount;
  private int specialCount;
  private long totalBytes;
  private long storedBytes;
  private int[] source = new int[0];
  private long[] index = new long[0];
  private int[] window = new int[0];
  private int[] position = new int[0];
  private int[] length = new int[0];
  private int[] payload = new int[0];
  private byte[] state = new byte[0];

  SlotSelection(ReadContext context) {
    this.context = context;
    this.table = context.table();
    this.fixedWidth = context.fixedWidth();
    this.decoder = new SlotDecoder(context);
  }

  /** Drops the selection. */
  void clear() {
    begin(0);
  }

  /** Selects any records in any order. */
  void select(long[] indices, int from, int newCount) {
    begin(newCount);
    if (context.shards().count() == 1) {
      // Ordinals of shards in the slots are then never set to a value other than 0.
      requireWithin(indices, from, newCount);
      System.arraycopy(indices, from, index, 0, newCount);
    } else {
      findShards(indices, from, newCount);
    }
    resolveAll();
  }

  private void requireWithin(long[] indices, int from, int newCount) {
    long last = context.shards().length() - 1;
    long signs = 0;
    for (int k = from; k < from + newCount; k++) {
      signs |= indices[k] | (last - indices[k]);
    }
    if (signs < 0) {
      count = 0;
      context.shards().requireWithin(Arrays.copyOfRange(indices, from, from + newCount));
    }
  }

  private void findShards(long[] indices, int from, int newCount) {
    ShardList shards = context.shards();
    long end = shards.length();
    int shard = 0;
    long low = 0;
    long high = 0;
    for (int k = 0; k < newCount; k++) {
      long global = indices[from + k];
      if (global < low || global >= high) {
        if (global < 0 || global >= end) {
          count = 0;
          throw shards.outOfBounds(global);
        }
        shard = shards.shardOf(global);
        low = shards.firstIndex(shard);
        high = shards.firstIndex(shard + 1);
      }
      source[k] = shard;
      index[k] = global - low;
    }
  }

  /** Selects consecutive records, which must be within the dataset. */
  void selectRange(long firstIndex, int newCount) {
    begin(newCount);
    ShardList shards = context.shards();
    int k = 0;
    while (k < newCount) {
      int shard = shards.shardOf(firstIndex + k);
      long low = shards.firstIndex(shard);
      int end = (int) Math.min(newCount, shards.firstIndex(shard + 1) - firstIndex);
      Arrays.fill(source, k, end, shard);
      for (; k < end; k++) {
        index[k] = firstIndex + k - low;
      }
    }
    resolveAll();
  }

  private void begin(int newCount) {
    count = 0;
    absentCount = 0;
    specialCount = 0;
    totalBytes = 0;
    storedBytes = 0;
    if (source.length < newCount) {
      int capacity = Math.max(newCount, source.length + (source.length >> 1));
      source = new int[capacity];
      index = new long[capacity];
      window = new int[capacity];
      position = new int[capacity];
      length = new int[capacity];
      payload = new int[0];
      state = new byte[capacity];
    }
    count = newCount;
  }

  private void resolveAll() {
    int selected = count;
    count = 0;
    long tableBytes = 0;
    for (int from = 0; from < selected; ) {
      int shard = source[from];
      int to = context.shards().count() == 1 ? selected : endOfShard(from, selected);
      ShardPart part = context.part(shard);
      if (part.field() instanceof EntryField field) {
        for (int block = from; block < to; block += LOOKUPS) {
          resolveEntries(part, field, block, Math.min(to, block + LOOKUPS));
        }
        tableBytes += (to - from)
            * (field.hasChecksums() && context.verification() != Verification.NEVER ? 20L : 16L);
      } else if (part.field() instanceof FixedRuns field) {
        resolveDense(part, field, from, to);
      } else {
        for (int k = from; k < to; k++) {
          setAbsent(k);
        }
      }
      from = to;
    }
    count = selected;
    if (fixedWidth >= 0) {
      totalBytes = (long) selected * fixedWidth;
    }
    context.metrics().values.add(selected);
    context.metrics().bytesRead.add(tableBytes + storedBytes + context.check().takeExtraBytes());
    context.metrics().bytesDelivered.add(totalBytes);
  }

  private int endOfShard(int from, int selected) {
    int to = from + 1;
    while (to < selected && source[to] == source[from]) {
      to++;
    }
    return to;
  }

  private void resolveEntries(ShardPart part, EntryField field, int from, int to) {
    context.check().entries(field, index, from, to);
    field.load(index, from, to, words);
    if (context.decodes(field)) {
      if (payload.length < state.length) {
        payload = new int[state.length];
      }
      for (int k = from; k < to; k++) {
        resolveEntry(part, field, k, words[2 * (k - from)], words[2 * (k - from) + 1]);
      }
      return;
    }
    // The usual case, a present value in a chunk of one window, needs no call. All other cases take
    // the long way.
    BlockCheck check = context.check();
    boolean settled = check.isSettled(field);
    int[] wholeWindows = part.wholeWindows();
    long[] chunkEnds = field.chunkEnds();
    long bytes = 0;
    for (int k = from; k < to; k++) {
      long word0 = words[2 * (k - from)];
      long word1 = words[2 * (k - from) + 1];
      int chunk = Entry.chunkId(word1);
      int stored = Entry.physicalLength(word1);
      if (chunk >= 0
          && chunk < wholeWindows.length
          && wholeWindows[chunk] >= 0
          && stored > 0
          && word0 >= FileHeader.BYTES
          && (word0 & 7) == 0
          && word0 <= chunkEnds[chunk] - stored
          && (fixedWidth < 0 || stored == fixedWidth)
          && (settled || !check.isDue(field, index[k]))) {
        window[k] = wholeWindows[chunk];
        position[k] = (int) word0;
        length[k] = stored;
        state[k] = 0;
        bytes += stored;
      } else {
        resolveEntry(part, field, k, word0, word1);
      }
    }
    totalBytes += bytes;
    storedBytes += bytes;
  }

  private void resolveEntry(ShardPart part, EntryField field, int k, long word0, long word1) {
    boolean due = context.check().isDue(field, index[k]);
    if (Entry.isAbsent(word0, word1)) {
      if (due) {
        context.check().absent(field, index[k], globalIndex(k));
      }
      setAbsent(k);
      return;
    }
    int chunk = field.chunkOf(index[k], word0, word1);
    int stored = Entry.physicalLength(word1);
    window[k] = part.ready(chunk, word0, stored);
    position[k] = window[k] == WindowTable.EMPTY ? 0 : part.within(chunk, word0);
    length[k] = stored;
    storedBytes += stored;
    boolean raw = !context.decodes(field);
    if (raw && stored > 0) {
      setPresent(k, due ? UNVERIFIED : 0);
      return;
    }
    // Verifying an empty value costs nothing. Its emptiness is verified here, because an empty
    // value is perhaps never copied.
    if (due) {
      context.check().value(field, index[k], globalIndex(k), window[k], position[k], stored);
    }
    setPresent(k, raw ? 0 : unwrap(part, chunk, word0, stored, k));
  }

  /** Reads the prefix of a compressed value and moves the slot after the prefix. */
  private byte unwrap(ShardPart part, int chunk, long offset, int stored, int k) {
    int prefix = table.intAt(window[k], position[k]);
    int logical = ValueCodec.logicalLength(prefix);
    int payloadLength = stored - ValueCodec.PREFIX_BYTES;
    boolean asIs = ValueCodec.isAsIs(prefix);
    if (!asIs && !ValueCodec.isPossible(payloadLength, logical)) {
      throw context.corrupt(
          path(k),
          globalIndex(k),
          "is compressed to " + payloadLength + " bytes, but its length is said to be " + logical
              + ", which no codec can do",
          null);
    }
    if (asIs && logical != payloadLength) {
      throw context.corrupt(
          path(k),
          globalIndex(k),
          "is stored as it is in " + payloadLength + " bytes, but its length is said to be "
              + logical,
          null);
    }
    long begin = offset + ValueCodec.PREFIX_BYTES;
    window[k] = part.ready(chunk, begin, payloadLength);
    position[k] = window[k] == WindowTable.EMPTY ? 0 : part.within(chunk, begin);
    length[k] = logical;
    payload[k] = payloadLength;
    return asIs ? 0 : ENCODED;
  }

  private void resolveDense(ShardPart part, FixedRuns field, int from, int to) {
    int width = field.widthBytes();
    boolean plain = !field.hasValidity() && context.check().isSettled(field);
    int[] wholeWindows = part.wholeWindows();
    for (int k = from; k < to; k++) {
      int run = field.runOf(index[k]);
      int whole = wholeWindows[field.chunk(run)];
      if (plain && whole >= 0) {
        window[k] = whole;
        position[k] = (int) field.position(run, index[k]);
        length[k] = width;
        state[k] = 0;
      } else {
        resolveDenseValue(part, field, k, run);
      }
    }
    storedBytes += (long) (to - from) * width;
  }

  private void resolveDenseValue(ShardPart part, FixedRuns field, int k, int run) {
    if (field.hasValidity() && !Validity.isPresent(context.check(), field, index[k])) {
      setAbsent(k);
      return;
    }
    int width = field.widthBytes();
    long at = field.position(run, index[k]);
    if (field.hasChecksums()) {
      long inRun = at - field.run(run).offset();
      context.check().units(part, field, run, inRun, inRun + width);
    }
    int chunk = field.chunk(run);
    window[k] = part.ready(chunk, at, width);
    position[k] = part.within(chunk, at);
    length[k] = width;
    setPresent(k, (byte) 0);
  }

  private void setAbsent(int k) {
    window[k] = WindowTable.EMPTY;
    position[k] = 0;
    length[k] = 0;
    state[k] = ABSENT;
    absentCount++;
  }

  private void setPresent(int k, byte flags) {
    if (fixedWidth >= 0 && length[k] != fixedWidth) {
      throw context.corrupt(
          path(k), globalIndex(k), "has " + length[k] + " bytes instead of " + fixedWidth, null);
    }
    totalBytes += length[k];
    boolean encoded = (flags & ENCODED) != 0;
    byte all = table.crosses(window[k], position[k], encoded ? payload[k] : length[k])
        ? (byte) (flags | CROSSING)
        : flags;
    state[k] = all;
    if (all != 0) {
      specialCount++;
    }
  }

  private String path(int k) {
    if (window[k] != WindowTable.EMPTY) {
      return table.path(window[k]);
    }
    return context.part(source[k]).field() instanceof EntryField field
        ? field.path()
        : context.spec().name();
  }

  private long globalIndex(int k) {
    return context.shards().firstIndex(source[k]) + index[k];
  }

  @Override
  public int count() {
    return count;
  }

  @Override
  public boolean hasAbsent() {
    return absentCount > 0;
  }

  @Override
  public boolean isAbsent(int i) {
    return state[i] == ABSENT;
  }

  @Override
  public int lengthBytes(int i) {
    return length[i];
  }

  @Override
  public long totalLengthBytes() {
    return totalBytes;
  }

  @Override
  public int copy(int i, ByteBuffer target, int at) {
    int flags = state[i];
    if (flags == 0) {
      target.put(at, table.get(window[i]), position[i], length[i]);
    } else if ((flags & ENCODED) != 0) {
      EntryField field = (EntryField) context.part(source[i]).field();
      decoder.decode(
          field.codec(), globalIndex(i), window[i], position[i], payload[i], length[i], target, at);
    } else if ((flags & UNVERIFIED) != 0) {
      EntryField field = (EntryField) context.part(source[i]).field();
      context
          .check()
          .copyValue(
              field, index[i], globalIndex(i), window[i], position[i], length[i], target, at);
      if (context.verification() == Verification.FIRST) {
        state[i] = (byte) (flags & ~UNVERIFIED);
      }
    } else {
      table.copy(window[i], position[i], target, at, length[i]);
    }
    return length[i];
  }

  @Override
  public int copy(int i, byte[] target, int offset) {
    if (state[i] == 0) {
      table.get(window[i]).get(position[i], target, offset, length[i]);
      return length[i];
    }
    return copy(i, ByteBuffer.wrap(target), offset);
  }

  @Override
  public void copyAll(ByteBuffer target, int at) {
    boolean zeroFill = fixedWidth > 0 && absentCount > 0;
    if (specialCount > 0 || zeroFill) {
      copyOneByOne(target, at, zeroFill);
    } else if (fixedWidth == Integer.BYTES) {
      copyInts(littleEndian(target), at);
    } else if (fixedWidth == Long.BYTES) {
      copyLongs(littleEndian(target), at);
    } else {
      copyPlain(target, at);
    }
  }

  private static ByteBuffer littleEndian(ByteBuffer target) {
    return target.order() == ByteOrder.LITTLE_ENDIAN
        ? target
        : target.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  private void copyPlain(ByteBuffer target, int at) {
    int next = at;
    WindowTable windows = table;
    int[] whichWindow = window;
    int[] where = position;
    int[] lengths = length;
    int all = count;
    for (int block = 0; block < all; block += AHEAD) {
      int end = Math.min(all, block + AHEAD);
      windows.touch(whichWindow, where, block, end);
      for (int k = block; k < end; k++) {
        int bytes = lengths[k];
        target.put(next, windows.get(whichWindow[k]), where[k], bytes);
        next += bytes;
      }
    }
  }

  private void copyInts(ByteBuffer target, int at) {
    for (int k = 0, next = at; k < count; k++, next += Integer.BYTES) {
      target.putInt(next, table.get(window[k]).getInt(position[k]));
    }
  }

  private void copyLongs(ByteBuffer target, int at) {
    for (int k = 0, next = at; k < count; k++, next += Long.BYTES) {
      target.putLong(next, table.get(window[k]).getLong(position[k]));
    }
  }

  private void copyOneByOne(ByteBuffer target, int at, boolean zeroFill) {
    int next = at;
    decoder.begin();
    try {
      for (int k = 0; k < count; k++) {
        if ((k & (AHEAD - 1)) == 0) {
          table.touch(window, position, k, Math.min(count, k + AHEAD));
        }
        if (zeroFill && state[k] == ABSENT) {
          Zeros.fill(target, next, fixedWidth);
          next += fixedWidth;
        } else {
          next += copy(k, target, next);
        }
      }
    } finally {
      decoder.end();
    }
  }

  @Override
  public ByteBuffer view(int i) {
    if ((state[i] & UNVERIFIED) != 0) {
      EntryField field = (EntryField) context.part(source[i]).field();
      context.check().value(field, index[i], globalIndex(i), window[i], position[i], length[i]);
      if (context.verification() == Verification.FIRST) {
        state[i] &= ~UNVERIFIED;
      }
    }
    if ((state[i] & (ENCODED | CROSSING)) == 0) {
      return table.get(window[i]).slice(position[i], length[i]).order(ByteOrder.LITTLE_ENDIAN);
    }
    ByteBuffer own = ByteBuffer.allocate(length[i]);
    copy(i, own, 0);
    return own.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
  }
}
