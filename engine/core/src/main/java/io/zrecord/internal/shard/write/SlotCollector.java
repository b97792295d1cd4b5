package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.RankedBitmapEncoder;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Collects slots in any order. Takes 2 bytes for a slot, and 8 KiB at most for 65,536 neighbouring
 * slots. Belongs to one thread.
 */
public final class SlotCollector {
  private static final int KEY_SHIFT = 16;
  private static final int LOW_MASK = (1 << KEY_SHIFT) - 1;
  private static final int WORDS = (1 << KEY_SHIFT) / Long.SIZE;

  /** Most slots of a container that are listed; more are bits. */
  private static final int MOST_LISTED = 4096;

  private final Map<Long, Container> containers = new TreeMap<>();
  private long count;

  /** The slots with the same bits above the lowest 16. */
  private static final class Container {
    /** Sorted; of no use once there are bits instead. */
    private char[] list = new char[4];

    private long[] words = {};
    private int count;

    boolean contains(int low) {
      return words.length > 0
          ? (words[low >>> 6] >>> low & 1) != 0
          : Arrays.binarySearch(list, 0, count, (char) low) >= 0;
    }

    boolean add(int low) {
      if (words.length > 0) {
        return set(low);
      }
      int found = Arrays.binarySearch(list, 0, count, (char) low);
      if (found >= 0) {
        return false;
      }
      if (count == MOST_LISTED) {
        expand();
        return set(low);
      }
      int at = -1 - found;
      if (count == list.length) {
        list = Arrays.copyOf(list, 2 * count);
      }
      System.arraycopy(list, at, list, at + 1, count - at);
      list[at] = (char) low;
      count++;
      return true;
    }

    private boolean set(int low) {
      boolean isNew = (words[low >>> 6] >>> low & 1) == 0;
      words[low >>> 6] |= 1L << low;
      count += isNew ? 1 : 0;
      return isNew;
    }

    private void expand() {
      words = new long[WORDS];
      for (int i = 0; i < count; i++) {
        words[list[i] >>> 6] |= 1L << list[i];
      }
      list = new char[0];
    }

    void forEach(long first, LongConsumer action) {
      if (words.length == 0) {
        for (int i = 0; i < count; i++) {
          action.accept(first + list[i]);
        }
        return;
      }
      for (int word = 0; word < WORDS; word++) {
        for (long left = words[word]; left != 0; left &= left - 1) {
          action.accept(first + word * (long) Long.SIZE + Long.numberOfTrailingZeros(left));
        }
      }
    }

    void encode(RankedBitmapEncoder encoder) {
      if (words.length == 0) {
        encoder.list(list, count);
      } else {
        encoder.words(words);
      }
    }
  }

  /** Returns a collector with some slots. */
  public static SlotCollector of(long[] slots) {
    SlotCollector collector = new SlotCollector();
    for (long slot : slots) {
      collector.add(slot);
    }
    return collector;
  }

  /** Returns a collector with the slots of a set; with none if there is no set. */
  public static SlotCollector of(@Nullable RankedBitmap set) {
    SlotCollector collector = new SlotCollector();
    if (set != null) {
      set.visit(0, Long.MAX_VALUE, (slot, rank) -> collector.add(slot));
    }
    return collector;
  }

  /** Adds a slot. Returns false if the slot was added before. */
  public boolean add(long slot) {
    boolean isNew = containers
        .computeIfAbsent(slot >>> KEY_SHIFT, key -> new Container())
        .add((int) slot & LOW_MASK);
    count += isNew ? 1 : 0;
    return isNew;
  }

  /** Tells whether a slot was added. */
  public boolean contains(long slot) {
    if (count == 0) {
      return false; // A change that deletes nothing is asked for each of its values.
    }
    Container container = containers.get(slot >>> KEY_SHIFT);
    return container != null && container.contains((int) slot & LOW_MASK);
  }

  /** Returns the number of slots. */
  public long count() {
    return count;
  }

  /** Calls an action with each slot, in rising order. */
  public void forEach(LongConsumer action) {
    containers.forEach((key, container) -> container.forEach(key << KEY_SHIFT, action));
  }

  /** Returns the slots in rising order. */
  public long[] slots() {
    LongStream.Builder slots = LongStream.builder();
    forEach(slots);
    return slots.build().toArray();
  }

  /** Returns the bytes of a {@link RankedBitmap} of the slots, of which there is at least one. */
  public byte[] encode() {
    int[] keys = new int[containers.size()];
    int[] counts = new int[keys.length];
    int next = 0;
    for (Map.Entry<Long, Container> container : containers.entrySet()) {
      keys[next] = Math.toIntExact(container.getKey());
      counts[next++] = container.getValue().count;
    }
    RankedBitmapEncoder encoder = new RankedBitmapEncoder(keys, counts);
    containers.values().forEach(container -> container.encode(encoder));
    return encoder.bytes();
  }

  /** Returns the slots as a set; null if there are none. */
  public @Nullable RankedBitmap toSet() {
    if (count == 0) {
      return null;
    }
    ByteBuffer bytes = ByteBuffer.wrap(encode()).order(ByteOrder.LITTLE_ENDIAN);
    return Objects.requireNonNull(RankedBitmap.decode(bytes, Long.MAX_VALUE));
  }
}
