package io.zrecord.internal.shard.write;

import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

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

    int load(long first, long[] slots, int from) {
      int next = from;
      if (words.length == 0) {
        for (int i = 0; i < count; i++) {
          slots[next++] = first + list[i];
        }
        return next;
      }
      for (int word = 0; word < WORDS; word++) {
        for (long left = words[word]; left != 0; left &= left - 1) {
          slots[next++] = first + word * (long) Long.SIZE + Long.numberOfTrailingZeros(left);
        }
      }
      return next;
    }
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
    Container container = containers.get(slot >>> KEY_SHIFT);
    return container != null && container.contains((int) slot & LOW_MASK);
  }

  /** Returns the number of slots. */
  public long count() {
    return count;
  }

  /** Returns the slots in rising order. */
  public long[] slots() {
    long[] slots = new long[Math.toIntExact(count)];
    int next = 0;
    for (Map.Entry<Long, Container> container : containers.entrySet()) {
      next = container.getValue().load(container.getKey() << KEY_SHIFT, slots, next);
    }
    return slots;
  }
}
