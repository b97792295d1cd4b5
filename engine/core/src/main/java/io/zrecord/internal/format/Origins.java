package io.zrecord.internal.format;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Says of records of a new shard which records of other shards they were before its commit
 * (FORMAT.md section 7.8). Takes 20 bytes for each of these records. Immutable.
 */
public final class Origins {
  /** No record was in another shard. */
  public static final Origins NONE = new Origins(List.of(), new long[0], new int[0], new long[0]);

  /** Most records of a shard of which is said where they were. */
  public static final int MOST = 1 << 24;

  private static final int PLACE_BYTES = 16;

  private final List<UUID> shards;
  private final long[] slots;
  private final int[] ordinals;
  private final long[] places;

  private Origins(List<UUID> shards, long[] slots, int[] ordinals, long[] places) {
    this.shards = shards;
    this.slots = slots;
    this.ordinals = ordinals;
    this.places = places;
  }

  /** Collects origins. Belongs to one thread. */
  public static final class Builder {
    private final Map<UUID, Integer> shards = new LinkedHashMap<>();
    private long[] slots = new long[16];
    private int[] ordinals = new int[16];
    private long[] places = new long[16];
    private int count;

    /**
     * Adds the origin of a slot, or replaces that of the slot which was added last.
     *
     * @param slot not less than the slots before
     * @param place slot that the record had in the other shard
     */
    public void add(long slot, UUID shard, long place) {
      if (count > 0 && slots[count - 1] == slot) {
        count--;
      }
      if (count == slots.length) {
        slots = Arrays.copyOf(slots, 2 * count);
        ordinals = Arrays.copyOf(ordinals, 2 * count);
        places = Arrays.copyOf(places, 2 * count);
      }
      slots[count] = slot;
      ordinals[count] = shards.computeIfAbsent(shard, unknown -> shards.size());
      places[count] = place;
      count++;
    }

    /** Returns the number of origins. */
    public int count() {
      return count;
    }

    /** Returns the slot that was added last; -1 if there is none. */
    public long lastSlot() {
      return count == 0 ? -1 : slots[count - 1];
    }

    /** Returns what was collected. */
    public Origins build() {
      return count == 0
          ? NONE
          : new Origins(
              new ArrayList<>(shards.keySet()),
              Arrays.copyOf(slots, count),
              Arrays.copyOf(ordinals, count),
              Arrays.copyOf(places, count));
    }
  }

  /** Returns the number of records that were in other shards. */
  public int count() {
    return slots.length;
  }

  /** Returns the other shards, each once. */
  public List<UUID> shards() {
    return List.copyOf(shards);
  }

  /** Returns the slots of the records in the new shard, in rising order. */
  public long[] slots() {
    return slots.clone();
  }

  /** Returns the slot of record <i>i</i> in the new shard. */
  public long slot(int i) {
    return slots[i];
  }

  /** Returns the shard where record <i>i</i> was. */
  public UUID shard(int i) {
    return shards.get(ordinals[i]);
  }

  /** Returns the slot of record <i>i</i> in that shard. */
  public long place(int i) {
    return places[i];
  }

  /** Returns the section of the places: of each slot its shard and its slot there. */
  public byte[] encodePlaces() {
    ByteBuffer section = ByteBuffer.allocate(PLACE_BYTES * count()).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < slots.length; i++) {
      section.putLong(places[i]).putInt(ordinals[i]).putInt(0);
    }
    return section.array();
  }

  /**
   * Decodes the section of the places.
   *
   * @param slots the slots of the records in the new shard
   * @return empty if these are no places of as many slots
   */
  static Optional<Origins> decode(List<UUID> shards, RankedBitmap slots, byte[] section) {
    if (section.length != PLACE_BYTES * slots.count()) {
      return Optional.empty();
    }
    ByteBuffer bytes = ByteBuffer.wrap(section).order(ByteOrder.LITTLE_ENDIAN);
    int count = (int) slots.count();
    int[] ordinals = new int[count];
    long[] places = new long[count];
    for (int i = 0; i < count; i++) {
      places[i] = bytes.getLong();
      ordinals[i] = bytes.getInt();
      boolean isPlace =
          places[i] >= 0 && ordinals[i] >= 0 && ordinals[i] < shards.size() && bytes.getInt() == 0;
      if (!isPlace) {
        return Optional.empty();
      }
    }
    return Optional.of(new Origins(shards, slots.slots(), ordinals, places));
  }
}
