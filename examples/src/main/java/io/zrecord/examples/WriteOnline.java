package io.zrecord.examples;

import io.zrecord.Batch;
import io.zrecord.MovedRecord;
import io.zrecord.RecordDataset;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreReader;
import io.zrecord.store.StoreSnapshot;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Does the work of a service: several threads append single records, change and delete some, and
 * commit together, while a reader follows. A snapshot of the store is an ordinary dataset. No Spark
 * on the class path. Argument: a directory where nothing exists yet.
 */
public final class WriteOnline {
  private static final int THREADS = 4;
  private static final int RECORDS_EACH = 5_000;
  private static final int COMMIT_EVERY = 500;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("label", ElementType.I32)
      .build();

  private WriteOnline() {}

  public static void main(String[] args) throws InterruptedException {
    Path directory = Path.of(args[0]);
    Path path = directory.resolve("store");
    long records = (long) THREADS * RECORDS_EACH;
    try (RecordStore store = RecordStore.create(path, SCHEMA, StoreOptions.defaults());
        StoreReader reader = StoreReader.open(path)) {
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int label = t;
        threads.add(new Thread(() -> append(store, label)));
      }
      threads.forEach(Thread::start);
      for (Thread thread : threads) {
        thread.join();
      }
      Check.equal("records that a reader sees", records, reader.length());

      store.update(7, store.newValues().set("text", "changed"));
      MovedRecord moved = store.delete(3);
      store.commit(); // acknowledged: survives the end of the process and loss of power
      Check.equal("the last record took the place of the deleted one", records - 1, moved.from());
      try (Batch batch = reader.gather(new long[] {7}, "text")) {
        Check.equal(
            "changed", "changed", new String(batch.bytes("text", 0), StandardCharsets.UTF_8));
      }
      StoreSnapshot.create(path, directory.resolve("copy")); // hard links: no value is copied
    }
    try (RecordDataset copy = RecordDataset.open(directory.resolve("copy").toString())) {
      Check.equal("records of the snapshot", records - 1, copy.length());
    }
  }

  private static void append(RecordStore store, int label) {
    RecordValues record = store.newValues();
    for (int i = 0; i < RECORDS_EACH; i++) {
      store.append(record.set("text", label + " says " + i).set("label", label));
      if (i % COMMIT_EVERY == COMMIT_EVERY - 1) {
        store.commit(); // threads that commit at once share the work
      }
    }
  }
}
