package io.zrecord.internal.shard.read;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.PromotedField;
import io.zrecord.internal.values.PromotedValues;
import io.zrecord.internal.values.ValueLengths;
import io.zrecord.schema.Codec;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Fills slots whose values are not stored in the form that is read: the initial default where a
 * shard lacks the field, and values of a type that was promoted since. Belongs to one thread.
 */
final class SubstitutedSlots {
  /** Shards that are kept open for later selections. */
  private static final int MOST_READERS = 64;

  /** Values whose lengths are looked up together. */
  private static final int LENGTHS = 256;

  private final ReadContext context;
  private final Slots slots;
  private final byte[] initial;
  private final boolean hasInitial;
  private final Map<Integer, ShardedFieldReader> readers = new HashMap<>();

  /** The reader that has selected the slots whose lengths were asked for; null if none has. */
  private @Nullable ShardedFieldReader lengths;

  private long firstLength;

  SubstitutedSlots(ReadContext context, Slots slots) {
    this.context = context;
    this.slots = slots;
    this.initial = context.initial();
    this.hasInitial = context.spec().rules().initialHex() != null;
  }

  /** Fills the slots {@code [from, to)} of a shard that lacks the field. */
  void fillInitial(int from, int to) {
    if (!hasInitial) {
      for (int k = from; k < to; k++) {
        slots.setAbsent(k);
      }
      return;
    }
    DecodedValues values = context.decoded();
    values.setUnordered();
    int window = WindowTable.EMPTY;
    int at = 0;
    if (initial.length > 0) {
      values.add(initial, 0, initial.length);
      window = values.window();
      at = values.end() - initial.length;
    }
    for (int k = from; k < to; k++) {
      slots.setDecoded(k, window, at, initial.length);
    }
  }

  /**
   * Asks for the bytes of slots of a shard, without waiting.
   *
   * @param asked takes the ranges, which the caller drops, also after a failure
   */
  void ask(PromotedField field, int shard, long[] ofShard, List<Prefetched.Range> asked) {
    lengths = null;
    forgettingDamaged(() -> reader(shard, field).prefetch(ofShard, asked));
  }

  /** Reads from one shard. After damage what was asked for of the others is forgotten as well. */
  private void forgettingDamaged(Runnable reading) {
    try {
      reading.run();
    } catch (CorruptDataException e) {
      readers.clear();
      context.forgetShards();
      throw e;
    }
  }

  /** Fills the slots {@code [from, to)}, which are of one shard. */
  void fillPromoted(PromotedField field, int from, int to) {
    forgettingDamaged(() -> fill(field, from, to));
  }

  private void fill(PromotedField field, int from, int to) {
    ElementType stored = field.tables().type();
    lengths = null;
    ShardedFieldReader reader = reader(slots.source[from], field);
    for (int first = from, end; first < to; first = end) {
      end = first + select(reader, first, to);
      take(reader, stored, first, end);
    }
  }

  /** Selects slots, and returns how many. A scan selects those that follow each other. */
  private int select(ShardedFieldReader reader, int from, int to) {
    if (!context.table().isReadInOrder()) {
      reader.select(Arrays.copyOfRange(slots.index, from, to), 0, to - from);
      return to - from;
    }
    long first = slots.index[from];
    int end = from + 1;
    while (end < to && slots.index[end] == first + (end - from)) {
      end++;
    }
    return reader.selectRange(first, end - from, Long.MAX_VALUE);
  }

  private void take(ShardedFieldReader reader, ElementType stored, int from, int to) {
    DecodedValues values = context.decoded();
    for (int k = from; k < to; k++) {
      if (reader.isAbsent(k - from)) {
        slots.setAbsent(k);
        continue;
      }
      byte[] value = converted(reader.value(k - from), stored, k);
      if (value.length == 0) {
        slots.setDecoded(k, WindowTable.EMPTY, 0, 0);
      } else {
        values.add(value, 0, value.length);
        slots.setDecoded(k, values.window(), values.end() - value.length, value.length);
      }
    }
  }

  /** Fills the slots {@code [from, to)} of changed values of one shard. */
  void fillChanged(ShardPart part, ChangedField field, int from, int to) {
    DecodedValues values = context.decoded();
    for (int k = from; k < to; k++) {
      byte[] stored = stored(part, field, slots.index[k], slots.globalIndex(k));
      if (stored == null) {
        slots.setAbsent(k);
        continue;
      }
      byte[] value = converted(stored, field.type(), k);
      if (value.length == 0) {
        slots.setDecoded(k, WindowTable.EMPTY, 0, 0);
      } else {
        values.add(value, 0, value.length);
        slots.setDecoded(k, values.window(), values.end() - value.length, value.length);
      }
    }
  }

  /** Returns the bytes of a raw value of a patch; null if it is absent. */
  private byte @Nullable [] stored(ShardPart part, ChangedField changed, long rank, long index) {
    EntryField field = changed.values();
    long word0 = field.word0(rank);
    long word1 = field.word1(rank);
    boolean isDue = context.check().isDue(field, rank);
    if (Entry.isAbsent(word0, word1)) {
      if (isDue) {
        context.check().absent(field, rank, index);
      }
      return null;
    }
    if (field.codec() != Codec.RAW) {
      throw context.corrupt(
          field.path(), index, "is compressed, and of a type that was promoted since", null);
    }
    int chunk = field.chunkOf(rank, word0, word1);
    int length = Entry.physicalLength(word1);
    if (!ValueLengths.fits(ofType(changed.type()), length)) {
      throw context.corrupt(field.path(), index, "has " + length + " bytes, as no value has", null);
    }
    long place = part.place(chunk, word0, length); // Bytes that no chunk has are refused
    int window = Place.window(place);
    byte[] value = new byte[length];
    int position = Place.position(place);
    if (isDue) {
      context
          .check()
          .copyValue(field, rank, index, window, position, value.length, ByteBuffer.wrap(value), 0);
    } else {
      context.table().copy(window, position, value, 0, value.length);
    }
    return value;
  }

  private FieldSpec ofType(ElementType stored) {
    return context.spec().withRules(FieldRules.NONE).withType(stored);
  }

  private byte[] converted(byte[] value, ElementType stored, int k) {
    try {
      return PromotedValues.convert(value, stored, context.spec().type());
    } catch (ArithmeticException e) {
      throw new CorruptDataException(
          context.spec().name(),
          "Cannot read the value at " + slots.globalIndex(k) + " of field '"
              + context.spec().name() + "': its date has no timestamp. Read a version before the"
              + " type of the field was promoted, in SQL with VERSION AS OF, and write the table"
              + " again from that");
    }
  }

  /** Returns the length of a value after its conversion. Whoever asks goes on with the next one. */
  int promotedLength(PromotedField field, int shardOrdinal, long slot) {
    ShardedFieldReader reader = reader(shardOrdinal, field);
    if (reader != lengths || slot < firstLength || slot >= firstLength + reader.count()) {
      long slotCount = context.shards().open(shardOrdinal).slots();
      lengths = reader;
      firstLength = slot;
      reader.selectRange(slot, (int) Math.min(LENGTHS, slotCount - slot), Long.MAX_VALUE);
    }
    int from = field.tables().type().widthBytes().orElseThrow();
    return reader.lengthBytes((int) (slot - firstLength))
        / from
        * context.spec().type().widthBytes().orElseThrow();
  }

  private ShardedFieldReader reader(int shardOrdinal, PromotedField field) {
    if (readers.size() >= MOST_READERS && !readers.containsKey(shardOrdinal)) {
      readers.clear();
    }
    return readers.computeIfAbsent(shardOrdinal, shard -> open(shard, field));
  }

  private ShardedFieldReader open(int shardOrdinal, PromotedField field) {
    FieldSpec spec = ofType(field.tables().type());
    ShardList all = context.shards();
    // Opened anew after damage, as the shards of this reader are.
    ShardList one = new ShardList(
        new long[] {all.open(shardOrdinal).slots()}, List.of(() -> all.open(shardOrdinal)));
    return ShardedFieldReader.ofTables(
        spec, one, context.prefetched(), context.verification(), context.metrics());
  }
}
