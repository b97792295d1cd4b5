package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.MovedRecord;
import io.zrecord.RecordDataset;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A store as a list of records, and a stream of random operations in which the {@code n}-th depends
 * on the seed, on {@code n} and on the state only: whoever knows how many took effect knows what
 * the store must contain.
 */
final class StoreModel {
  static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("id", ElementType.I64)
      .field("raw", ElementType.BYTES)
      .field("packed", ElementType.BYTES, Shape.scalar(), Compression.of(Codec.LZ4))
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .build();
  private static final int FIELDS = SCHEMA.fields().size();

  private final long seed;
  private final int growthLength;
  private final List<byte[] @Nullable []> records = new ArrayList<>();
  private long operationCount;

  /** Makes a model that grows below {@code growthLength} records, and shrinks above. */
  StoreModel(long seed, int growthLength) {
    this.seed = seed;
    this.growthLength = growthLength;
  }

  long operationCount() {
    return operationCount;
  }

  int length() {
    return records.size();
  }

  /** Returns the records as they are now: values by field, null where absent. */
  List<byte[] @Nullable []> records() {
    return List.copyOf(records);
  }

  /** Does the next operation, to the store as well if there is one. */
  void next(@Nullable RecordStore store) {
    Random random = new Random(seed * 0x9e3779b97f4a7c15L + operationCount);
    random.nextLong();
    int dice = random.nextInt(100);
    boolean grows = records.size() < growthLength;
    if (records.isEmpty() || dice < (grows ? 50 : 20)) {
      append(random, store);
    } else if (dice < 75) {
      update(random, store);
    } else {
      delete(random, store);
    }
    operationCount++;
  }

  private void append(Random random, @Nullable RecordStore store) {
    byte[][] values = new byte[FIELDS][];
    RecordValues row = store == null ? null : store.newValues();
    for (int field = 0; field < FIELDS; field++) {
      if (random.nextInt(8) > 0) {
        values[field] = value(random, field);
        if (row != null) {
          row.set(SCHEMA.fields().get(field).name(), values[field]);
        }
      }
    }
    if (store != null && row != null) {
      assertThat(store.append(row)).isEqualTo(records.size());
    }
    records.add(values);
  }

  private void update(Random random, @Nullable RecordStore store) {
    int index = random.nextInt(records.size());
    byte[][] values = records.get(index).clone();
    RecordValues row = store == null ? null : store.newValues();
    for (int field = 0; field < FIELDS; field++) {
      int dice = random.nextInt(4);
      String name = SCHEMA.fields().get(field).name();
      if (dice == 0) {
        values[field] = null;
        if (row != null) {
          row.setAbsent(name);
        }
      } else if (dice < 3) {
        values[field] = value(random, field);
        if (row != null) {
          row.set(name, values[field]);
        }
      }
    }
    if (store != null && row != null) {
      store.update(index, row);
    }
    records.set(index, values);
  }

  private void delete(Random random, @Nullable RecordStore store) {
    int index = random.nextInt(records.size());
    int last = records.size() - 1;
    if (store != null) {
      assertThat(store.delete(index)).isEqualTo(new MovedRecord(last, index));
    }
    records.set(index, records.get(last));
    records.remove(last);
  }

  /** Makes bytes that no other record has. */
  private byte[] value(Random random, int field) {
    if (field == 0) {
      return ByteBuffer.allocate(Long.BYTES).putLong(random.nextLong()).array();
    }
    int length = random.nextInt(10) == 0 ? random.nextInt(6_000) : random.nextInt(200);
    byte[] value = new byte[length];
    random.nextBytes(value);
    if (field > 1) {
      // Compressible, and of letters.
      for (int i = 0; i < length; i++) {
        value[i] = (byte) ('a' + (value[i] & 3));
      }
    }
    return value;
  }

  /** Returns the first difference to what the store contains, or nothing. */
  @Nullable
  String differenceFrom(RecordStore store) {
    return difference(store.length(), store::gather);
  }

  @Nullable
  String differenceFrom(RecordDataset dataset) {
    return difference(dataset.length(), dataset::gather);
  }

  @Nullable
  String differenceFrom(StoreReader reader) {
    return difference(reader.length(), reader::gather);
  }

  private @Nullable String difference(long length, Function<long[], Batch> gather) {
    if (length != records.size()) {
      return "length " + length + " instead of " + records.size();
    }
    long[] indices = new long[records.size()];
    Arrays.setAll(indices, i -> i);
    try (Batch batch = gather.apply(indices)) {
      for (int i = 0; i < indices.length; i++) {
        for (int field = 0; field < FIELDS; field++) {
          String name = SCHEMA.fields().get(field).name();
          byte[] expected = records.get(i)[field];
          byte[] found = batch.isAbsent(name, i) ? null : batch.bytes(name, i);
          if (!Arrays.equals(expected, found)) {
            return "field " + name + " of record " + i + " is " + Arrays.toString(found)
                + " instead of " + Arrays.toString(expected);
          }
        }
      }
    }
    return null;
  }
}
