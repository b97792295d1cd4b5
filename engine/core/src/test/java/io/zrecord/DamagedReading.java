package io.zrecord;

import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.local.LocalStorage;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads all of a dataset that may be damaged, and compares what comes without an exception with the
 * states that are right: all of it must be of one of them. Belongs to one thread.
 */
public final class DamagedReading {
  private static final int SPARE_BYTES = 1 << 14;
  private static final com.sun.management.ThreadMXBean THREADS =
      (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final RecordSchema schema;
  private final List<List<byte[] @Nullable []>> rightStates;

  /** Those that what was read so far can be of. */
  private final List<List<byte[] @Nullable []>> states;

  private @Nullable ZRecordException refusal;
  private @Nullable String mistake;
  private long mostAllocatedBytes;
  private ByteBuffer copy = ByteBuffer.allocate(0);

  /** What is read. */
  public interface Records extends AutoCloseable {
    long length();

    Batch gather(long[] indices, String... fields);

    @Override
    void close();
  }

  /** Opens the newest version of a table. */
  static Records openTable(Path table, Verification verification) {
    RecordDataset dataset = RecordDataset.open(
        LocalStorage.at(table), new ReadOptions(verification, new ReadMetrics()));
    return new Records() {
      @Override
      public long length() {
        return dataset.length();
      }

      @Override
      public Batch gather(long[] indices, String... fields) {
        return dataset.gather(indices, fields);
      }

      @Override
      public void close() {
        dataset.close();
      }
    };
  }

  /** Opens what is read. */
  interface Opener {
    Records open();
  }

  /** One step of reading. */
  private interface Step {
    void run();
  }

  /** Compares with states of which the newest comes last. */
  DamagedReading(RecordSchema schema, List<List<byte[] @Nullable []>> rightStates) {
    this.schema = schema;
    this.rightStates = rightStates;
    this.states = new ArrayList<>(rightStates);
  }

  /** Opens, reads and closes. Exceptions that are not typed pass through. */
  DamagedReading run(Opener opener) {
    Records[] opened = new Records[1];
    if (attempt(() -> opened[0] = opener.open())) {
      Records records = opened[0];
      long length = records.length();
      states.removeIf(state -> state.size() != length);
      if (states.isEmpty()) {
        mistake = "length " + length;
      } else {
        read(records, LongStream.range(0, length).toArray());
      }
      attempt(records::close);
    }
    return this;
  }

  /** Returns the first refusal, if there was one. */
  @Nullable
  ZRecordException refusal() {
    return refusal;
  }

  /** Returns the first value that is not what it was. */
  @Nullable
  String mistake() {
    return mistake;
  }

  /** Returns whether what was read is not of the newest state. */
  boolean isEarlier() {
    return !states.contains(rightStates.get(rightStates.size() - 1));
  }

  /** Returns the bytes of the heap that the most greedy step allocated. */
  long mostAllocatedBytes() {
    return mostAllocatedBytes;
  }

  private boolean attempt(Step step) {
    long before = THREADS.getCurrentThreadAllocatedBytes();
    try {
      step.run();
      return true;
    } catch (ZRecordException e) {
      refusal = refusal == null ? e : refusal;
      return false;
    } finally {
      long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
      mostAllocatedBytes = Math.max(mostAllocatedBytes, allocated);
    }
  }

  /** Reads all fields at once, then each field, so that a damaged field hides no other. */
  private void read(Records records, long[] indices) {
    if (!attempt(() -> compare(records, indices))) {
      for (FieldSpec field : schema.fields()) {
        read(records, indices, field.name());
      }
    }
  }

  /** Halves what is refused until it is one value. */
  private void read(Records records, long[] indices, String field) {
    if (mistake != null || attempt(() -> compare(records, indices, field)) || indices.length < 2) {
      return;
    }
    int half = indices.length / 2;
    read(records, Arrays.copyOf(indices, half), field);
    read(records, Arrays.copyOfRange(indices, half, indices.length), field);
  }

  private void compare(Records records, long[] indices, String... fields) {
    try (Batch batch = records.gather(indices, fields)) {
      List<String> read = fields.length > 0
          ? List.of(fields)
          : schema.fields().stream().map(FieldSpec::name).toList();
      for (String field : read) {
        int ordinal = schema.ordinal(field);
        for (int k = 0; k < indices.length; k++) {
          byte[] found = batch.isAbsent(field, k) ? null : batch.bytes(field, k);
          requireEqual(ordinal, (int) indices[k], found);
          if (found != null && !batch.value(field, k).equals(ByteBuffer.wrap(found))) {
            mistake = "the view of field " + field + " of record " + indices[k];
          }
        }
        compareAll(batch, ordinal, indices);
      }
    }
  }

  private void requireEqual(int field, int index, byte @Nullable [] found) {
    states.removeIf(state -> !Arrays.equals(state.get(index)[field], found));
    if (states.isEmpty() && mistake == null) {
      mistake = "field " + schema.fields().get(field).name() + " of record " + index + " is "
          + (found == null ? "absent" : "another value of " + found.length + " bytes");
    }
  }

  private void compareAll(Batch batch, int field, long[] indices) {
    if (states.isEmpty()) {
      return;
    }
    FieldSpec spec = schema.fields().get(field);
    byte[] zeros = new byte[spec.valueWidthBytes().orElse(0)];
    List<byte[]> expected = new ArrayList<>();
    int bytes = 0;
    for (long index : indices) {
      byte[] value = states.get(0).get((int) index)[field];
      expected.add(value == null ? zeros : value);
      bytes += expected.get(expected.size() - 1).length;
    }
    if (copy.capacity() < bytes + SPARE_BYTES) {
      copy = ByteBuffer.allocate(bytes + SPARE_BYTES);
    }
    batch.copyAll(spec.name(), copy.clear());
    ByteBuffer right = ByteBuffer.allocate(bytes);
    expected.forEach(right::put);
    if (!copy.flip().equals(right.flip()) && mistake == null) {
      mistake = "the copy of field " + spec.name();
    }
  }
}
