package io.zrecord.internal.store;

import io.zrecord.internal.format.Binding;
import java.util.Arrays;

/**
 * The changes that a group of operations makes to the tables: each touched record with the last
 * state of all its entries, and the length after the group. Later operations of the group replace
 * earlier ones, so a group can be applied in any order, and more than once. Records after the
 * length at the beginning of the group have fixed places in the tail; other records are found by a
 * hash. Not thread-safe.
 */
public final class Changes {
  private static final int INITIAL_SLOTS = 16;

  private final int fieldCount;
  private final long baseLength;
  private long length;
  private boolean shrank;
  private final GroupWaiters waiters = new GroupWaiters();

  /**
   * Indices of the slots, in the order in which records were first touched; negative if the record
   * no longer exists.
   */
  private long[] indexOfSlot = new long[INITIAL_SLOTS];

  private long[] words;
  private int[] checksums;
  private int slotCount;
  private int[] tailSlots = new int[INITIAL_SLOTS];
  private long[] hashedIndex = new long[2 * INITIAL_SLOTS];
  private int[] hashedSlot = new int[2 * INITIAL_SLOTS];
  private int hashedCount;

  /**
   * The entries of one record: two words and a checksum for each field. The checksum of a new entry
   * is the CRC32C of the stored bytes alone, until the index of the record is known.
   */
  public static final class Entries {
    private final long[] words;
    private final int[] checksums;

    public Entries(int fieldCount) {
      words = new long[2 * fieldCount];
      checksums = new int[fieldCount];
    }

    /** Sets the entry of a field. */
    public void set(int field, long word0, long word1, int checksum) {
      words[2 * field] = word0;
      words[2 * field + 1] = word1;
      checksums[field] = checksum;
    }

    /** Binds the checksum of a new entry to the record at an index. */
    public void bind(int field, Binding binding, long index) {
      checksums[field] =
          binding.bindEntry(index, words[2 * field], words[2 * field + 1], checksums[field]);
    }

    /** Binds all checksums to another index, at which the record will be. */
    public void rebind(long from, long to) {
      for (int field = 0; field < checksums.length; field++) {
        checksums[field] = Binding.rebind(from, to, checksums[field]);
      }
    }

    /** Copies the entry of a field from another record. */
    public void copy(int field, Entries source) {
      set(field, source.words[2 * field], source.words[2 * field + 1], source.checksums[field]);
    }
  }

  public Changes(int fieldCount, long baseLength) {
    this.fieldCount = fieldCount;
    this.baseLength = baseLength;
    this.length = baseLength;
    this.words = new long[INITIAL_SLOTS * 2 * fieldCount];
    this.checksums = new int[INITIAL_SLOTS * fieldCount];
    Arrays.fill(tailSlots, -1);
    Arrays.fill(hashedIndex, -1);
  }

  /** Returns the threads that wait for the commit of this group. Any thread may call this. */
  public GroupWaiters waiters() {
    return waiters;
  }

  long baseLength() {
    return baseLength;
  }

  /** Returns the number of records after the group. */
  public long length() {
    return length;
  }

  public boolean isEmpty() {
    return slotCount == 0 && !shrank;
  }

  /**
   * Tells whether the length was, at any moment, below the length at the beginning of the group.
   */
  boolean shrank() {
    return shrank;
  }

  /** Returns the number of touched records, some of which may be past the length by now. */
  public int slotCount() {
    return slotCount;
  }

  public long index(int slot) {
    return indexOfSlot[slot];
  }

  public long word0(int slot, int field) {
    return words[2 * (slot * fieldCount + field)];
  }

  public long word1(int slot, int field) {
    return words[2 * (slot * fieldCount + field) + 1];
  }

  public int checksum(int slot, int field) {
    return checksums[slot * fieldCount + field];
  }

  /**
   * Copies the entries of a touched record. Returns false if the group did not touch the record.
   */
  public boolean find(long index, Entries target) {
    int slot = slotOf(index);
    if (slot < 0) {
      return false;
    }
    System.arraycopy(words, slot * 2 * fieldCount, target.words, 0, 2 * fieldCount);
    System.arraycopy(checksums, slot * fieldCount, target.checksums, 0, fieldCount);
    return true;
  }

  /** Adds a record at the end and returns its index. */
  public long append(Entries record) {
    put(length, record);
    return length++;
  }

  /** Sets the entries of a record within the length. */
  public void put(long index, Entries record) {
    int slot = slotOf(index);
    if (slot < 0) {
      slot = newSlot(index);
    }
    System.arraycopy(record.words, 0, words, slot * 2 * fieldCount, 2 * fieldCount);
    System.arraycopy(record.checksums, 0, checksums, slot * fieldCount, fieldCount);
  }

  /** Drops the last record. */
  public void shrink() {
    length--;
    shrank |= length < baseLength;
  }

  private int slotOf(long index) {
    if (index >= baseLength) {
      long place = index - baseLength;
      return place < tailSlots.length ? tailSlots[(int) place] : -1;
    }
    int at = hashPlace(index);
    return hashedIndex[at] == index ? hashedSlot[at] : -1;
  }

  private int newSlot(long index) {
    int slot = slotCount++;
    if (slot == indexOfSlot.length) {
      int capacity = Math.multiplyExact(slot, 2);
      indexOfSlot = Arrays.copyOf(indexOfSlot, capacity);
      words = Arrays.copyOf(words, Math.multiplyExact(capacity, 2 * fieldCount));
      checksums = Arrays.copyOf(checksums, Math.multiplyExact(capacity, fieldCount));
    }
    indexOfSlot[slot] = index;
    if (index >= baseLength) {
      int place = Math.toIntExact(index - baseLength);
      if (place >= tailSlots.length) {
        int old = tailSlots.length;
        tailSlots = Arrays.copyOf(tailSlots, Math.max(place + 1, 2 * old));
        Arrays.fill(tailSlots, old, tailSlots.length, -1);
      }
      tailSlots[place] = slot;
    } else {
      if (2 * (hashedCount + 1) > hashedIndex.length) {
        rehash();
      }
      int at = hashPlace(index);
      hashedIndex[at] = index;
      hashedSlot[at] = slot;
      hashedCount++;
    }
    return slot;
  }

  private void rehash() {
    long[] oldIndex = hashedIndex;
    int[] oldSlot = hashedSlot;
    hashedIndex = new long[2 * oldIndex.length];
    hashedSlot = new int[2 * oldIndex.length];
    Arrays.fill(hashedIndex, -1);
    for (int i = 0; i < oldIndex.length; i++) {
      if (oldIndex[i] >= 0) {
        int at = hashPlace(oldIndex[i]);
        hashedIndex[at] = oldIndex[i];
        hashedSlot[at] = oldSlot[i];
      }
    }
  }

  /** Returns the hash place of an index, or the free place where the index would go. */
  private int hashPlace(long index) {
    int mask = hashedIndex.length - 1;
    int at = (int) ((index * 0x9e37_79b9_7f4a_7c15L) >>> 32) & mask;
    while (hashedIndex[at] >= 0 && hashedIndex[at] != index) {
      at = (at + 1) & mask;
    }
    return at;
  }
}
