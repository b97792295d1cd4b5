package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/** Stores with one number a record, whose writers have no lock of the system. */
final class StoresWithoutLock {
  static final RecordSchema SCHEMA =
      RecordSchema.builder().field("x", ElementType.I64).build();

  private StoresWithoutLock() {}

  static RecordStore open(MutableFiles files) {
    return RecordStore.open(files, StoreOptions.defaults().withWriters(1).withReaders(0), () -> {});
  }

  static void append(RecordStore store, long value) {
    store.append(store.newValues().set("x", value));
    store.commit();
  }

  static List<Long> values(RecordStore store) {
    List<Long> values = new ArrayList<>();
    for (long index = 0; index < store.length(); index++) {
      try (Batch batch = store.gather(new long[] {index})) {
        values.add(batch.value("x", 0).getLong());
      }
    }
    return values;
  }

  /** Waits for the end of what another thread does. */
  static void requireFailure(CompletableFuture<?> work, Class<? extends Throwable> type) {
    assertThatThrownBy(work::join).isInstanceOf(CompletionException.class).hasCauseInstanceOf(type);
  }
}
