package io.zrecord.benchmarks;

import io.zrecord.Batch;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/**
 * A store with its defaults, except that it writes one chunk at a time, because one thread appends.
 * Checksums are compared when a value is first read.
 */
final class ZRecordPeer implements PeerStore {
  private final RecordStore store;
  private final RecordValues record;

  ZRecordPeer(Path path) {
    store = RecordStore.create(
        path,
        RecordSchema.builder().field("value", ElementType.BYTES).build(),
        StoreOptions.defaults().withWriters(1));
    record = store.newValues();
  }

  @Override
  public void append(Values values, long first, int count) {
    for (int i = 0; i < count; i++) {
      store.append(record.set("value", values.array(first + i)));
    }
    store.commit();
  }

  @Override
  public void settle() {}

  @Override
  public Gatherer newGatherer() {
    return new Gatherer() {
      @Override
      public void gather(long[] numbers, ByteBuffer target) {
        try (Batch batch = store.gather(numbers, "value")) {
          batch.copyAll("value", target);
        }
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    store.close();
  }
}
