package io.zrecord.internal.online;

import java.util.Arrays;

/**
 * What a group of operations does to the tables: the records that it touches, each with the last state of all its entries, and the
 * length afterwards. Later operations of the group replace what earlier ones did, so that it can be applied in any order, and more
 * than once. A record behind the length that the group began with has a place of its own in the tail; the others are found by a hash.
 * Not thread-safe.
 */
final class Changes {
  private static final int INITIAL_SLOTS = 16;

  private final int fieldCount;
  private final long baseLength;
  private long length;
  private boolean shrank;
  private final GroupWaiters waiters = new GroupWaiters();

  /** Slots in the order in which records were touched first; negative if there is no more such record. */
  private long[] indexOfSlot = new long[INITIAL_SLOTS];

  private long[] words;
  private int[] checksums;
  private int slotCount;
  private int[] tailSlots = new int[INITIAL_SLOTS];
  private long[] hashedIndex = new long[2 * INITIAL_SLOTS];
  private int[] hashedSlot = new int[2 * INITIAL_SLOTS];
  private int hashedCount;

  /** The entries of one record: two words and a checksum for each field. */
  static final class Entries {
    final long[] words;
    final int[] checksums;

    Entries(int fieldCount) {
      words = new long[2 * fieldCount];
      checksums = new int[fieldCount];
    }
  }

  Changes(int fieldCount, long baseLength) {
    this.fieldCount = fieldCount;
    this.baseLength = baseLength;
    this.length = baseLength;
    this.words = new long[INITIAL_SLOTS * 2 * fieldCount];
    this.checksums = new int[INITIAL_SLOTS * fieldCount];
    Arrays.fill(tailSlots, -1);
    Arrays.fill(hashedIndex, -1);
  }

  /** Those who wait for it to be committed; may be asked by any thread. */
  GroupWaiters waiters() {
    return waiters;
  }

  long baseLength() {
    return baseLength;
  }

  /** Records after the group. */
  long length() {
    return length;
  }

  boolean isEmpty() {
    return slotCount == 0 && !shrank;
  }

  /** Whether the length was below the one that the group began with, at some moment. */
  boolean shrank() {
    return shrank;
  }

  /** Records touched, some of which may be behind the length by now. */
  int slotCount() {
    return slotCount;
  }

  long index(int slot) {
    return indexOfSlot[slot];
  }

  long word0(int slot, int field) {
    return words[2 * (slot * fieldCount + field)];
  }

  long word1(int slot, int field) {
    return words[2 * (slot * fieldCount + field) + 1];
  }

  int checksum(int slot, int field) {
    return checksums[slot * fieldCount + field];
  }

  /** Copies the entries of a record that the group touched; returns false if it did not. */
  boolean find(long index, Entries target) {
    int slot = slotOf(index);
    if (slot < 0) {
      return false;
    }
    System.arraycopy(words, slot * 2 * fieldCount, target.words, 0, 2 * fieldCount);
    System.arraycopy(checksums, slot * fieldCount, target.checksums, 0, fieldCount);
    return true;
  }

  /** Adds a record at the end; returns its index. */
  long append(Entries record) {
    put(length, record);
    return length++;
  }

  /** Sets the entries of a record within the length. */
  void put(long index, Entries record) {
    int slot = slotOf(index);
    if (slot < 0) {
      slot = newSlot(index);
    }
    System.arraycopy(record.words, 0, words, slot * 2 * fieldCount, 2 * fieldCount);
    System.arraycopy(record.checksums, 0, checksums, slot * fieldCount, fieldCount);
  }

  /** Drops the last record. */
  void shrink() {
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

  /** Where an index is, or would be put. */
  private int hashPlace(long index) {
    int mask = hashedIndex.length - 1;
    int at = (int) ((index * 0x9e37_79b9_7f4a_7c15L) >>> 32) & mask;
    while (hashedIndex[at] >= 0 && hashedIndex[at] != index) {
      at = (at + 1) & mask;
    }
    return at;
  }
}
