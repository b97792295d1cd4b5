package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * A set of slots that knows how many of its slots come before any other (FORMAT.md section 3.3). A
 * container has the slots of 65,536 consecutive ones: up to 4,096 of them as sorted u16, more as a
 * bitmap.
 *
 * <pre>
 *  0       4       8
 * +-------+-------+-------------------------+-----------------------------------+--
 * | n u32 | 0 u32 | n × (key u32, count u32)| first container, zeros up to 8 B  | next
 * +-------+-------+-------------------------+-----------------------------------+--
 * </pre>
 *
 * <p>Immutable.
 */
public final class RankedBitmap {
  /** Bits of a slot within its container. */
  private static final int KEY_SHIFT = 16;

  private static final int CONTAINER_SLOTS = 1 << KEY_SHIFT;
  private static final int LOW_MASK = CONTAINER_SLOTS - 1;
  private static final int WORDS = CONTAINER_SLOTS / Long.SIZE;

  /** Most slots of a container that are stored one by one. */
  static final int MOST_LISTED = 4096;

  static final int HEAD_BYTES = 8;
  static final int DIRECTORY_BYTES = 8;

  /**
   * Least slots of a container, or of all containers on average, that is held as a bitmap in
   * memory, which is looked up without a search. Fewer slots would take 10 KiB of memory for less
   * than 80 bytes of a file.
   */
  private static final int LEAST_EXPANDED = 32;

  /** Most containers of listed slots that are held as bitmaps: 10 MiB. Files are not trusted. */
  private static final int MOST_EXPANDED = 1024;

  private static final int LISTED = -1;
  private static final char[] NO_SLOTS = {};

  private final int[] keys;
  /** Slots before each container, and at the end the slots of all. */
  private final long[] ranks;
  /** Where the bitmap of each container begins; −1 for few slots, which are in {@link #lists}. */
  private final int[] places;
  /** Words of all bitmaps. */
  private final long[] words;
  /** Set bits of the container before each word. */
  private final char[] wordRanks;
  /** Sorted slots of containers that are stored in this way; otherwise empty. */
  private final char[][] lists;

  /** Whether the bitmaps are those of the first slots, without a gap. */
  private final boolean isFlat;

  /**
   * Makes room for containers.
   *
   * @param keys number of each container
   * @param counts number of the slots of each container
   */
  private RankedBitmap(int[] keys, int[] counts) {
    this.keys = keys;
    this.ranks = new long[keys.length + 1];
    this.places = new int[keys.length];
    this.lists = new char[keys.length][];
    Arrays.fill(lists, NO_SLOTS);
    for (int i = 0; i < keys.length; i++) {
      ranks[i + 1] = ranks[i] + counts[i];
    }
    boolean isDense =
        keys.length <= MOST_EXPANDED && count() >= (long) keys.length * LEAST_EXPANDED;
    int expanded = 0;
    int bitmaps = 0;
    boolean flat = true;
    for (int i = 0; i < keys.length; i++) {
      boolean isExpanded = isDense
          || counts[i] > MOST_LISTED
          || (counts[i] >= LEAST_EXPANDED && expanded++ < MOST_EXPANDED);
      places[i] = isExpanded ? bitmaps++ * WORDS : LISTED;
      flat &= isExpanded && keys[i] == i;
    }
    this.isFlat = flat;
    this.words = new long[bitmaps * WORDS];
    this.wordRanks = new char[bitmaps * WORDS];
  }

  /**
   * Makes a set.
   *
   * @param sorted slots in rising order, each once, at least one
   */
  public static RankedBitmap of(long[] sorted) {
    ByteBuffer encoded = ByteBuffer.wrap(encode(sorted)).order(ByteOrder.LITTLE_ENDIAN);
    RankedBitmap bitmap = decode(encoded, Long.MAX_VALUE);
    if (bitmap == null) {
      throw new IllegalArgumentException("The slots are not in rising order");
    }
    return bitmap;
  }

  /** Returns the bytes of a set of slots, which are in rising order. */
  public static byte[] encode(long[] sorted) {
    int containers = 0;
    int bytes = HEAD_BYTES;
    for (int from = 0; from < sorted.length; from = endOfContainer(sorted, from)) {
      containers++;
      bytes += DIRECTORY_BYTES + containerBytes(endOfContainer(sorted, from) - from);
    }
    ByteBuffer encoded = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    encoded.putInt(containers);
    int at = HEAD_BYTES + containers * DIRECTORY_BYTES;
    int entry = HEAD_BYTES;
    for (int from = 0; from < sorted.length; ) {
      int to = endOfContainer(sorted, from);
      encoded.putInt(entry, (int) (sorted[from] >>> KEY_SHIFT)).putInt(entry + 4, to - from);
      for (int i = from; i < to; i++) {
        int low = (int) sorted[i] & LOW_MASK;
        if (to - from <= MOST_LISTED) {
          encoded.putShort(at + (i - from) * Short.BYTES, (short) low);
        } else {
          int word = at + (low >>> 6) * Long.BYTES;
          encoded.putLong(word, encoded.getLong(word) | 1L << low);
        }
      }
      entry += DIRECTORY_BYTES;
      at += containerBytes(to - from);
      from = to;
    }
    return encoded.array();
  }

  private static int endOfContainer(long[] sorted, int from) {
    long key = sorted[from] >>> KEY_SHIFT;
    int to = from + 1;
    while (to < sorted.length && sorted[to] >>> KEY_SHIFT == key) {
      to++;
    }
    return to;
  }

  /** Returns the bytes of a container of so many slots, without its place in the directory. */
  static int containerBytes(int count) {
    return count <= MOST_LISTED ? (count * Short.BYTES + 7) & -8 : WORDS * Long.BYTES;
  }

  /**
   * Reads a set.
   *
   * @param bytes all bytes of the section, little-endian
   * @param slots the slots are less than this
   * @return null unless these are the bytes of such a set
   */
  public static @Nullable RankedBitmap decode(ByteBuffer bytes, long slots) {
    int length = bytes.limit();
    if (length < HEAD_BYTES || bytes.getInt(4) != 0) {
      return null;
    }
    int count = bytes.getInt(0);
    if (count < 1 || count > (length - HEAD_BYTES) / DIRECTORY_BYTES) {
      return null;
    }
    int[] keys = new int[count];
    int[] sizes = new int[count];
    long end = HEAD_BYTES + (long) count * DIRECTORY_BYTES;
    for (int i = 0; i < count; i++) {
      keys[i] = bytes.getInt(HEAD_BYTES + i * DIRECTORY_BYTES);
      sizes[i] = bytes.getInt(HEAD_BYTES + i * DIRECTORY_BYTES + 4);
      if (keys[i] < 0
          || (i > 0 && keys[i] <= keys[i - 1])
          || sizes[i] < 1
          || sizes[i] > CONTAINER_SLOTS) {
        return null;
      }
      end += containerBytes(sizes[i]);
    }
    if (end != length) {
      return null;
    }
    RankedBitmap bitmap = new RankedBitmap(keys, sizes);
    int at = HEAD_BYTES + count * DIRECTORY_BYTES;
    for (int i = 0; i < count; i++) {
      if (!(sizes[i] <= MOST_LISTED
          ? bitmap.list(i, bytes, at, sizes[i])
          : bitmap.bits(i, bytes, at, sizes[i]))) {
        return null;
      }
      at += containerBytes(sizes[i]);
    }
    return bitmap.slotOf(bitmap.count() - 1) < slots ? bitmap : null;
  }

  private boolean list(int container, ByteBuffer bytes, int at, int count) {
    char[] list = new char[count];
    for (int i = 0; i < count; i++) {
      list[i] = bytes.getChar(at + i * Short.BYTES);
      if (i > 0 && list[i] <= list[i - 1]) {
        return false;
      }
    }
    for (int i = at + count * Short.BYTES; i < at + containerBytes(count); i++) {
      if (bytes.get(i) != 0) {
        return false;
      }
    }
    lists[container] = list;
    int place = places[container];
    if (place != LISTED) {
      for (char low : list) {
        words[place + (low >>> 6)] |= 1L << low;
      }
      countBits(place);
    }
    return true;
  }

  private boolean bits(int container, ByteBuffer bytes, int at, int count) {
    int place = places[container];
    for (int i = 0; i < WORDS; i++) {
      words[place + i] = bytes.getLong(at + i * Long.BYTES);
    }
    return countBits(place) == count;
  }

  private int countBits(int place) {
    int count = 0;
    for (int word = place; word < place + WORDS; word++) {
      wordRanks[word] = (char) count;
      count += Long.bitCount(words[word]);
    }
    return count;
  }

  /** Returns the number of slots. */
  public long count() {
    return ranks[keys.length];
  }

  /** Returns the number of containers. */
  public int containerCount() {
    return keys.length;
  }

  /** Returns the ordinal of the container that has a slot; −1 if no slot of it is in the set. */
  public int containerOf(long slot) {
    return Math.max(-1, search(slot >>> KEY_SHIFT));
  }

  /** Returns the number of slots in a container. */
  public int containerSlots(int container) {
    return (int) (ranks[container + 1] - ranks[container]);
  }

  /** Tells whether a slot is in the set. */
  public boolean contains(long slot) {
    if (isFlat) {
      return slot >>> 6 < words.length && (words[(int) (slot >>> 6)] >>> slot & 1) != 0;
    }
    int container = containerOf(slot);
    if (container < 0) {
      return false;
    }
    int place = places[container];
    return place != LISTED
        ? (words[place + wordOf(slot)] >>> slot & 1) != 0
        : Arrays.binarySearch(lists[container], (char) slot) >= 0;
  }

  private static int wordOf(long slot) {
    return (int) slot >>> 6 & WORDS - 1;
  }

  /** Returns the number of slots in the set that are less than a slot. */
  public long rank(long slot) {
    int container = search(slot >>> KEY_SHIFT);
    if (container < 0) {
      return ranks[-1 - container];
    }
    int place = places[container];
    if (place != LISTED) {
      int word = place + wordOf(slot);
      return ranks[container] + wordRanks[word] + Long.bitCount(words[word] & (1L << slot) - 1);
    }
    int found = Arrays.binarySearch(lists[container], (char) slot);
    return ranks[container] + (found >= 0 ? found : -1 - found);
  }

  private int search(long key) {
    // Mostly there is a container for every key.
    int same = (int) Math.min(key, keys.length - 1);
    if (keys[same] == key) {
      return same;
    }
    return key > Integer.MAX_VALUE ? -1 - keys.length : Arrays.binarySearch(keys, (int) key);
  }

  /** Returns the slot of a rank, which is less than {@link #count}. */
  public long slotOf(long rank) {
    int found = Arrays.binarySearch(ranks, rank);
    int container = found >= 0 ? found : -2 - found;
    int within = (int) (rank - ranks[container]);
    long first = (long) keys[container] << KEY_SHIFT;
    char[] list = lists[container];
    if (list.length > 0) {
      return first + list[within];
    }
    int place = places[container];
    int low = place;
    int high = place + WORDS - 1;
    while (low < high) {
      int middle = (low + high + 1) >>> 1;
      if (wordRanks[middle] <= within) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    long bits = words[low];
    for (int i = within - wordRanks[low]; i > 0; i--) {
      bits &= bits - 1;
    }
    return first + (low - place) * (long) Long.SIZE + Long.numberOfTrailingZeros(bits);
  }

  /** Returns the least slot in the set that is not less than a slot; −1 if there is none. */
  public long next(long slot) {
    int container = containerOf(slot);
    int place = container < 0 ? LISTED : places[container];
    if (place != LISTED) {
      // Slots are mostly asked for one after the other, and the next is in one of the next words.
      for (int word = wordOf(slot); word < WORDS; word++) {
        long begin = ((long) keys[container] << KEY_SHIFT) + (long) word * Long.SIZE;
        long bits = words[place + word];
        long left = begin < slot ? bits & -1L << slot : bits;
        if (left != 0) {
          return begin + Long.numberOfTrailingZeros(left);
        }
      }
    }
    long rank = rank(slot);
    return rank < count() ? slotOf(rank) : -1;
  }

  /** Puts {@code count} slots of the set, from a rank on, into an array. */
  public void load(long firstRank, int count, long[] slots) {
    int found = Arrays.binarySearch(ranks, firstRank);
    int container = found >= 0 ? found : -2 - found;
    for (int loaded = 0; loaded < count; container++) {
      int within = (int) (firstRank + loaded - ranks[container]);
      int taken = (int) Math.min(count - loaded, ranks[container + 1] - ranks[container] - within);
      load(container, within, slots, loaded, loaded + taken);
      loaded += taken;
    }
  }

  private void load(int container, int within, long[] slots, int from, int to) {
    long first = (long) keys[container] << KEY_SHIFT;
    char[] list = lists[container];
    if (list.length > 0) {
      for (int i = from; i < to; i++) {
        slots[i] = first + list[within + i - from];
      }
      return;
    }
    long begin = slotOf(ranks[container] + within);
    int place = places[container];
    int next = from;
    int word = (int) (begin - first) >>> 6;
    for (long left = words[place + word] & -1L << begin; next < to; left = words[place + word]) {
      for (; left != 0 && next < to; left &= left - 1) {
        slots[next++] = first + word * (long) Long.SIZE + Long.numberOfTrailingZeros(left);
      }
      word = Math.min(word + 1, WORDS - 1);
    }
  }

  /**
   * Returns the slot that is not in the set and has {@code index} slots before it that are not in
   * the set.
   */
  public long missing(long index) {
    // Each step adds the slots of the set that the last step has passed: few, where few are set.
    long slot = index;
    for (int step = 0; step < 6; step++) {
      long next = index + rank(slot + 1);
      if (next == slot) {
        return slot;
      }
      slot = next;
    }
    long low = slot;
    long high = index + count();
    while (low < high) {
      long middle = (low + high) >>> 1;
      if (middle + 1 - rank(middle + 1) > index) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  /** Takes slots of the set. */
  public interface Visitor {
    void slot(long slot, long rank);
  }

  /** Visits the slots of the set within {@code [from, to)} in rising order. */
  public void visit(long from, long to, Visitor visitor) {
    int found = search(from >>> KEY_SHIFT);
    for (int c = found >= 0 ? found : -1 - found; c < keys.length; c++) {
      long first = (long) keys[c] << KEY_SHIFT;
      if (first >= to) {
        return;
      }
      if (places[c] == LISTED) {
        visitList(c, from, to, visitor);
      } else {
        visitWords(c, from, to, visitor);
      }
    }
  }

  private void visitList(int container, long from, long to, Visitor visitor) {
    long first = (long) keys[container] << KEY_SHIFT;
    char[] list = lists[container];
    for (int i = 0; i < list.length && first + list[i] < to; i++) {
      if (first + list[i] >= from) {
        visitor.slot(first + list[i], ranks[container] + i);
      }
    }
  }

  private void visitWords(int container, long from, long to, Visitor visitor) {
    int place = places[container];
    long first = (long) keys[container] << KEY_SHIFT;
    for (int word = (int) Math.max(0, (from - first) >> 6); word < WORDS; word++) {
      long begin = first + (long) word * Long.SIZE;
      if (begin >= to) {
        return;
      }
      long bits = words[place + word];
      long left = begin < from ? bits & -1L << from : bits;
      long rank =
          ranks[container] + wordRanks[place + word] + Long.bitCount(bits) - Long.bitCount(left);
      for (; left != 0; left &= left - 1, rank++) {
        long slot = begin + Long.numberOfTrailingZeros(left);
        if (slot >= to) {
          return;
        }
        visitor.slot(slot, rank);
      }
    }
  }

  /** Returns the slots in rising order. */
  public long[] slots() {
    return slotsIf(slot -> true);
  }

  /** Returns the slots that a condition holds for, in rising order. */
  public long[] slotsIf(LongPredicate condition) {
    long[] slots = new long[Math.toIntExact(count())];
    int count = 0;
    for (int container = 0; container < keys.length; container++) {
      long first = (long) keys[container] << KEY_SHIFT;
      int place = places[container];
      if (place == LISTED) {
        for (char low : lists[container]) {
          slots[count] = first + low;
          count += condition.test(first + low) ? 1 : 0;
        }
        continue;
      }
      for (int word = 0; word < WORDS; word++) {
        for (long left = words[place + word]; left != 0; left &= left - 1) {
          long slot = first + word * (long) Long.SIZE + Long.numberOfTrailingZeros(left);
          slots[count] = slot;
          count += condition.test(slot) ? 1 : 0;
        }
      }
    }
    return count == slots.length ? slots : Arrays.copyOf(slots, count);
  }
}
