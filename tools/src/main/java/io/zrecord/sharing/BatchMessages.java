package io.zrecord.sharing;

import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedState;
import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes the messages of {@link SharedBatches}, and puts into shared memory everything that loaders
 * do not put there. Belongs to one thread.
 */
final class BatchMessages {
  private static final int FRAME_BYTES = 8;
  private static final int HEADER = 1;
  private static final int BATCH = 2;
  private static final int END = 3;
  private static final int BATCH_WORDS = 9;
  private static final int FIELD_WORDS = 5;

  private final SharedArena arena;
  private final List<FieldSpec> fields;
  /** For each number of a batch, the memory for everything except values. */
  private final @Nullable ByteBuffer[] besides;

  BatchMessages(SharedArena arena, List<FieldSpec> fields, int depth) {
    this.arena = arena;
    this.fields = fields;
    this.besides = new ByteBuffer[depth];
  }

  static byte[] header(String json) {
    return frame(HEADER, json.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] end(byte[] badRecords) {
    return frame(END, badRecords);
  }

  private static byte[] frame(int kind, byte[] payload) {
    return ByteBuffer.allocate(FRAME_BYTES + payload.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(payload.length)
        .putInt(kind)
        .put(payload)
        .array();
  }

  /**
   * Returns the message of a batch. The batch's indices, ends, lengths and absent marks are in
   * shared memory then.
   *
   * @param badRecords JSON of bad records, or nothing
   */
  byte[] batch(int number, FeedBatch batch, byte[] badRecords) {
    FeedState next = batch.next();
    byte[] state = next.toJson().getBytes(StandardCharsets.UTF_8);
    int words = BATCH_WORDS + FIELD_WORDS * fields.size();
    ByteBuffer message = ByteBuffer.allocate(
            FRAME_BYTES + Long.BYTES * words + state.length + badRecords.length)
        .order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer beside = beside(number, batch.count());
    long besideAt = arena.at(beside);
    message.putInt(message.capacity() - FRAME_BYTES).putInt(BATCH);
    message.putLong(number).putLong(batch.count()).putLong(batch.epoch()).putLong(batch.batch());
    message.putLong(arena.lengthBytes()).putLong(besideAt);
    message.putLong(next.epoch()).putLong(batch.batchesLeft()).putLong(state.length);
    for (long index : batch.indices()) {
      beside.putLong(index);
    }
    for (FieldSpec field : fields) {
      String name = field.name();
      boolean isFixed = field.valueWidthBytes().isPresent();
      int steps = isFixed ? -1 : batch.dimensions(name)[1];
      message.putLong(arena.at(batch.memory(name)));
      message.putLong(batch.data(name).remaining());
      message.putLong(steps);
      message.putLong(isFixed ? -1 : besideAt + putEndsOrLengths(beside, batch, name, steps));
      message.putLong(batch.hasAbsent(name) ? besideAt + putAbsent(beside, batch, name) : -1);
    }
    return message.put(state).put(badRecords).array();
  }

  /** Returns empty room for everything of a batch except its values. */
  private ByteBuffer beside(int number, int count) {
    int field = count * (Integer.BYTES + 1) + Integer.BYTES;
    int most = Math.addExact(count * Long.BYTES, Math.multiplyExact(fields.size(), field));
    ByteBuffer beside = besides[number];
    if (beside == null || beside.capacity() < most) {
      if (beside != null) {
        arena.free(beside);
      }
      beside = arena.allocate(Math.max(1, most));
      besides[number] = beside;
    }
    return beside.clear();
  }

  private static int putEndsOrLengths(ByteBuffer beside, FeedBatch batch, String field, int steps) {
    int start = (beside.position() + Integer.BYTES - 1) / Integer.BYTES * Integer.BYTES;
    beside.position(start);
    if (steps < 0) {
      for (int end : batch.ends(field)) {
        beside.putInt(end);
      }
    } else {
      for (int i = 0; i < batch.count(); i++) {
        beside.putInt(batch.lengthBytes(field, i));
      }
    }
    return start;
  }

  private static int putAbsent(ByteBuffer beside, FeedBatch batch, String field) {
    int start = beside.position();
    for (int i = 0; i < batch.count(); i++) {
      beside.put((byte) (batch.isAbsent(field, i) ? 1 : 0));
    }
    return start;
  }
}
