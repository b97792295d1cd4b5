package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.io.MapFaults;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.ChangedField.SideBySide;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.read.Verification;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Reads changed values of one width, as a patch stores them. Where many small ones are wanted, puts
 * all of a shard side by side: to find, to check and to copy one on its own takes as long as a
 * hundred unchanged ones do. Belongs to one thread.
 */
final class ChangedValues {
  private static final int SLOTS_AT_ONCE = 4096;

  private final ReadContext context;
  private final int width;

  ChangedValues(ReadContext context) {
    this.context = context;
    this.width = context.spec().valueWidthBytes().orElse(0);
  }

  /**
   * Returns the values of a shard side by side; null if each is to be read on its own.
   *
   * @param source what stands for the changed values of the shard
   * @param wanted number of values that are wanted now
   */
  @Nullable
  ByteBuffer sideBySide(int source, ChangedField field, int wanted) {
    ByteBuffer values = sideBySide(field);
    if (values != null) {
      return values;
    }
    return isWorthSideBySide(field, wanted) ? put(source, field) : null;
  }

  /** Returns the values of a shard if they are side by side already; null otherwise. */
  @Nullable
  ByteBuffer sideBySide(ChangedField field) {
    SideBySide values = mayBeSideBySide(field) ? field.sideBySide() : null;
    return values != null && (values.isVerified() || context.verification() == Verification.NEVER)
        ? values.bytes()
        : null;
  }

  /** Tells whether to put the values of a shard side by side, of which some more are wanted. */
  boolean isWorthSideBySide(ChangedField field, int wanted) {
    return mayBeSideBySide(field) && field.isWorthSideBySide(context.spec(), wanted);
  }

  private boolean mayBeSideBySide(ChangedField field) {
    // Readers of another type share the values with those of the type before its promotion.
    return context.verification() != Verification.ALWAYS && field.isOf(context.spec());
  }

  /**
   * Puts the values of a shard side by side.
   *
   * @return null if one of them is damaged
   */
  @Nullable
  ByteBuffer put(int source, ChangedField field) {
    int count = (int) field.slots().count();
    // Checksums of arrays are the fastest.
    ByteBuffer bytes = ByteBuffer.allocate(count * width);
    ShardPart part = context.part(source);
    long[] slots = new long[Math.min(count, SLOTS_AT_ONCE)];
    boolean isIntact = context.tryRead(() -> {
      for (int from = 0; from < count; from += slots.length) {
        int some = Math.min(slots.length, count - from);
        field.slots().load(from, some, slots);
        for (int i = 0; i < some; i++) {
          int rank = from + i;
          copy(part, field.values(), rank, part.indexOf(slots[i]), bytes, rank * width);
        }
      }
    });
    if (!isIntact) {
      // Whoever wants that value is told. The others can be read.
      field.setDamaged();
      return null;
    }
    MapFaults.surface(); // Others will not read these values from the map again
    ByteBuffer direct = ByteBuffer.allocateDirect(bytes.capacity()).put(bytes);
    ByteBuffer values = direct.asReadOnlyBuffer().clear().order(ByteOrder.LITTLE_ENDIAN);
    field.setSideBySide(new SideBySide(values, context.verification() != Verification.NEVER));
    return values;
  }

  /**
   * Copies one value; zeros if the value is absent.
   *
   * @param index of the record in the dataset, for errors
   */
  void copy(ShardPart part, EntryField field, long rank, long index, ByteBuffer target, int at) {
    long word0 = field.word0(rank);
    long word1 = field.word1(rank);
    boolean isDue = context.check().isDue(field, rank);
    if (Entry.isAbsent(word0, word1)) {
      if (isDue) {
        context.check().absent(field, rank, index);
      }
      Zeros.fill(target, at, width);
      return;
    }
    int chunk = field.chunkOf(rank, word0, word1);
    int length = Entry.physicalLength(word1);
    if (length != width) {
      throw context.corrupt(
          field.path(), index, "has " + length + " bytes instead of " + width, null);
    }
    long place = part.place(chunk, word0, length);
    int window = Place.window(place);
    int position = Place.position(place);
    if (isDue) {
      context.check().copyValue(field, rank, index, window, position, length, target, at);
    } else {
      context.table().copy(window, position, target, at, length);
    }
  }
}
