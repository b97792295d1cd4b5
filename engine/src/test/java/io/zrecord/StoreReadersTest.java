package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.StampedRecords.Stamp;
import io.zrecord.StampedRecords.WrongValueException;
import io.zrecord.errors.BatchReleasedException;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several threads gather while another one appends, updates, deletes, checkpoints, closes the store
 * and opens it again; they keep batches and views for a while, also across the close. No value is
 * torn, stale or of another record, and the process, which is one of its own, does not die. Records
 * that are read field by field in two gathers show that changes do come in between: all go on until
 * that was seen.
 */
class StoreReadersTest {
  private static final int COMMITS = Budget.of(400);
  private static final int GATHERS = Budget.of(5_000);

  @TempDir
  Path directory;

  @Test
  void readersGetWholeAndCurrentRecordsWhileAllElseHappens() throws Exception {
    JavaProcess.Result result = JavaProcess.of(Readers.class)
        .option("-Xmx512m")
        .option("-XX:ErrorFile=" + directory.resolve("hs_err.log"))
        .run(directory.resolve("store").toString());
    System.out.print(result.output());
    assertThat(result.exitCode()).as(result.output()).isZero();
  }

  /** The process. */
  static final class Readers {
    private static final int THREADS = 3;

    private Readers() {}

    public static void main(String[] arguments) throws InterruptedException {
      long seed = Budget.seed();
      // Only of a proof that does not come.
      long latest = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
      StoreOptions options =
          StoreOptions.defaults().withChunkBytes(1 << 20).withCheckpointBytes(1 << 20);
      StampedWriter writer = new StampedWriter(Path.of(arguments[0]), options, seed);
      List<Reader> readers = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        readers.add(new Reader(writer, seed + 1 + i));
      }
      readers.forEach(Thread::start);
      writer.run(
          COMMITS,
          () -> (sum(readers, reader -> reader.gathers) >= GATHERS
                  && sum(readers, reader -> reader.readsAcrossClose) > 0
                  && sum(readers, reader -> reader.mixed) > 0)
              || sum(readers, reader -> reader.wrong) > 0
              || System.nanoTime() > latest,
          () -> {});
      for (Reader reader : readers) {
        reader.join();
      }
      long wrong = sum(readers, reader -> reader.wrong);
      long across = sum(readers, reader -> reader.readsAcrossClose);
      long mixed = sum(readers, reader -> reader.mixed);
      System.out.printf(
          "%d threads, seed %d: %d gathers of %d records, %d batches or views read after their store was closed, "
              + "%d commits, %d checkpoints, %d closes; %d wrong; read field by field %d mixed%n",
          THREADS,
          seed,
          sum(readers, reader -> reader.gathers),
          sum(readers, reader -> reader.values),
          across,
          writer.commits(),
          writer.checkpoints(),
          writer.closes(),
          wrong,
          mixed);
      readers.forEach(reader -> {
        if (reader.first != null) {
          System.out.println(reader.first);
        }
      });
      boolean isProof = across > 0 && mixed > 0 && writer.closes() > 2 && writer.checkpoints() > 0;
      System.exit(wrong > 0 ? 1 : isProof ? 0 : 2);
    }

    private static long sum(List<Reader> readers, Function<Reader, AtomicLong> count) {
      return readers.stream().map(count).mapToLong(AtomicLong::get).sum();
    }
  }

  /** Gathers until the writer is done, and after that reads what it held. */
  private static final class Reader extends Thread {
    private static final int BATCH = 48;
    private static final int MOST_HELD = 24;
    private static final int HOT_RECORDS = 512;
    private static final int PAUSE_NANOS = 20_000;

    private final StampedWriter writer;
    private final Random random;
    private final Deque<Held> held = new ArrayDeque<>();
    private final AtomicLong gathers = new AtomicLong();
    private final AtomicLong values = new AtomicLong();
    private final AtomicLong readsAcrossClose = new AtomicLong();
    private final AtomicLong mixed = new AtomicLong();
    private final AtomicLong wrong = new AtomicLong();
    private @Nullable String first;

    /**
     * A batch that is kept, or a view of one that was released.
     *
     * @param batch null if there is a view
     * @param stamps of the records if they were read at once
     */
    private record Held(
        RecordStore store,
        @Nullable Batch batch,
        @Nullable ByteBuffer view,
        int count,
        List<Stamp> stamps,
        long commitsBefore) {}

    Reader(StampedWriter writer, long seed) {
      this.writer = writer;
      this.random = new Random(seed);
    }

    @Override
    public void run() {
      while (!writer.isDone()) {
        attempt(this::gather);
        if (held.size() > random.nextInt(MOST_HELD)) {
          attempt(() -> readHeld(held.removeFirst()));
        }
      }
      while (!held.isEmpty()) {
        attempt(() -> readHeld(held.removeFirst()));
      }
    }

    private void attempt(Runnable step) {
      try {
        step.run();
      } catch (RuntimeException | Error e) {
        first = first == null ? "Wrong: " + e : first;
        wrong.incrementAndGet();
      }
    }

    private long[] indices(RecordStore store) {
      long length = Math.max(1, store.length());
      long most = random.nextBoolean() ? Math.min(length, HOT_RECORDS) : length;
      return random.longs(BATCH, 0, most).toArray();
    }

    private void gather() {
      RecordStore store = writer.store();
      long commitsBefore = writer.commits();
      long[] indices = indices(store);
      int dice = random.nextInt(16);
      if (dice == 0) {
        gatherByField(store, indices);
        return;
      }
      Batch batch = gather(store, indices);
      if (batch == null) {
        return;
      }
      gathers.incrementAndGet();
      values.addAndGet(BATCH);
      if (dice == 1) {
        held.addLast(new Held(store, batch, null, BATCH, List.of(), commitsBefore));
        return;
      }
      List<Stamp> stamps = read(batch, BATCH, commitsBefore);
      if (dice == 2) {
        held.addLast(new Held(store, batch, null, BATCH, stamps, commitsBefore));
        return;
      }
      requireCopied(batch, stamps);
      if (dice == 3) {
        ByteBuffer view = batch.value(StampedRecords.RAW, 0);
        held.addLast(new Held(store, null, view, 1, stamps, commitsBefore));
      }
      batch.close();
      requireReleased(batch);
    }

    /**
     * Gathers; returns nothing if the store is just being closed, or has become shorter since it
     * was asked for its length.
     */
    private static @Nullable Batch gather(RecordStore store, long[] indices, String... fields) {
      try {
        return store.gather(indices, fields);
      } catch (IllegalStateException | IndexOutOfBoundsException e) {
        LockSupport.parkNanos(PAUSE_NANOS);
        return null;
      }
    }

    private List<Stamp> read(Batch batch, int count, long commitsBefore) {
      List<Stamp> stamps = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        stamps.add(StampedRecords.stampOf(batch, i));
        writer.requireCurrent(stamps.get(i), commitsBefore);
      }
      return stamps;
    }

    /** Requires right copies of all values of a field at once; absent values are zeros. */
    private static void requireCopied(Batch batch, List<Stamp> stamps) {
      ByteBuffer copy =
          ByteBuffer.allocateDirect(BATCH * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
      batch.copyAll(StampedRecords.NUMBER, copy);
      for (int i = 0; i < BATCH; i++) {
        Stamp stamp = stamps.get(i);
        long expected = StampedRecords.hasNumber(stamp) ? StampedRecords.number(stamp) : 0;
        if (copy.getLong(i * Long.BYTES) != expected) {
          throw new WrongValueException("another number than that of " + stamp);
        }
      }
    }

    private static void requireReleased(Batch batch) {
      try {
        batch.bytes(StampedRecords.RAW, 0);
        throw new WrongValueException("a value of a batch that was released");
      } catch (BatchReleasedException e) {
        // As it must be.
      }
    }

    private void readHeld(Held one) {
      if (writer.hasClosed(one.store())) {
        readsAcrossClose.incrementAndGet();
      }
      if (one.view() != null) {
        byte[] value = new byte[one.view().remaining()];
        one.view().get(value);
        if (!StampedRecords.isWhole(value, one.stamps().get(0))) {
          throw new WrongValueException("a view of " + one.stamps().get(0) + " has changed");
        }
      }
      if (one.batch() != null) {
        List<Stamp> stamps = read(one.batch(), one.count(), one.commitsBefore());
        if (!one.stamps().isEmpty() && !one.stamps().equals(stamps)) {
          throw new WrongValueException("a batch has changed");
        }
        one.batch().close();
        requireReleased(one.batch());
      }
    }

    /** Gathers the fields at different moments, so that changes in between are seen. */
    private void gatherByField(RecordStore store, long[] indices) {
      Batch raw = gather(store, indices, StampedRecords.RAW);
      LockSupport.parkNanos(PAUSE_NANOS);
      Batch packed = gather(store, indices, StampedRecords.PACKED);
      if (raw != null && packed != null) {
        for (int i = 0; i < BATCH; i++) {
          Stamp one = StampedRecords.stampOf(raw.bytes(StampedRecords.RAW, i));
          Stamp other = StampedRecords.stampOf(packed.bytes(StampedRecords.PACKED, i));
          mixed.addAndGet(one.equals(other) ? 0 : 1);
        }
      }
    }
  }
}
