package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.store.StampedRecords.Stamp;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Readers stay open while a store is written, closed, rebalanced, opened and written again, with
 * another compression each time; they keep batches for a while. No value is torn, stale or of
 * another record. One reader is a process of its own.
 */
class StoreRebalanceReadersTest {
  private static final int COMMITS = Budget.of(200);
  private static final long SEED = Budget.seed();
  private static final int THREADS = 2;
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withChunkBytes(1 << 19).withCheckpointBytes(1 << 18);
  private static final List<Codec> CODECS = List.of(Codec.LZ4, Codec.ZSTD, Codec.RAW);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void readersGoOnWhileRebalancesAndWritesAlternate() throws Exception {
    Path path = directory.resolve("store");
    StampedWriter writer = new StampedWriter(path, OPTIONS, SEED);
    Process process = JavaProcess.of(Follower.class).option("-Xmx128m").start(path.toString());
    List<Reader> readers = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      readers.add(new Reader(path, writer, SEED + 1 + i));
    }
    readers.forEach(Thread::start);
    int[] rebalances = {0};
    // Only of a reader that reads nothing.
    long latest = System.nanoTime() + TimeUnit.MINUTES.toNanos(10);
    writer.run(
        COMMITS,
        () -> (rebalances[0] > 1
                && readers.stream().allMatch(reader -> reader.held.get() > 0)
                && hasSaid(process))
            || readers.stream().anyMatch(reader -> !reader.isAlive())
            || System.nanoTime() > latest,
        () -> {
          Codec codec = CODECS.get(rebalances[0]++ % CODECS.size());
          StoreRebalance.of(
                  path,
                  StoreRebalanceOptions.defaults()
                      .withMinUtilization(1)
                      .withChunkBytes(1 << 18)
                      .withCompression(Map.of(StampedRecords.PACKED, Compression.of(codec))))
              .run();
        });
    for (Reader reader : readers) {
      reader.join();
    }
    process.getOutputStream().close();
    String said;
    try (BufferedReader lines = new BufferedReader(
        new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      said = String.join("\n", lines.lines().toList());
    }
    System.out.printf(
        "Seed %d: %d commits, %d rebalances; %d batches of threads, %d of them read after a rebalance; process: %s%n",
        SEED,
        writer.commits(),
        rebalances[0],
        readers.stream().mapToLong(reader -> reader.batches).sum(),
        readers.stream().mapToLong(reader -> reader.held.get()).sum(),
        said);
    for (Reader reader : readers) {
      assertThat(reader.failure).isNull();
      assertThat(reader.held.get()).isPositive();
    }
    assertThat(process.waitFor()).as(said).isZero();
    assertThat(said).startsWith("reads");
    assertThat(rebalances[0]).isGreaterThan(1);
  }

  /** Returns whether the process has read a batch, or has ended. */
  private static boolean hasSaid(Process process) {
    try {
      return !process.isAlive() || process.getInputStream().available() > 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static long[] indices(Random random, long length) {
    return random.longs(48, 0, length).toArray();
  }

  /** Reads with one reader until the writer is done, and keeps batches. */
  private static final class Reader extends Thread {
    private final Path path;
    private final StampedWriter writer;
    private final Random random;
    private final AtomicLong held = new AtomicLong();
    private long batches;
    private @Nullable Throwable failure;

    private record Held(Batch batch, long commits, List<String> stems) {}

    Reader(Path path, StampedWriter writer, long seed) {
      this.path = path;
      this.writer = writer;
      this.random = new Random(seed);
    }

    @Override
    public void run() {
      Deque<Held> kept = new ArrayDeque<>();
      try (StoreReader reader = StoreReader.open(path)) {
        while (!writer.isDone()) {
          long commits = writer.commits();
          long length = reader.length();
          if (length == 0) {
            continue;
          }
          try {
            kept.add(new Held(reader.gather(indices(random, length)), commits, stems()));
            batches++;
          } catch (IndexOutOfBoundsException e) {
            // Records were deleted since.
            continue;
          }
          if (kept.size() > random.nextInt(400)) {
            check(kept.removeFirst());
          }
        }
        while (!kept.isEmpty()) {
          check(kept.removeFirst());
        }
      } catch (RuntimeException | Error e) {
        failure = e;
      }
    }

    /** Changes with a rebalance. */
    private List<String> stems() {
      String[] names = path.toFile().list((directory, name) -> name.endsWith(".offset"));
      return names == null ? List.of() : List.of(names);
    }

    private void check(Held old) {
      held.addAndGet(stems().equals(old.stems()) ? 0 : 1);
      try (Batch batch = old.batch()) {
        for (int i = 0; i < batch.count(); i++) {
          Stamp stamp = StampedRecords.stampOf(batch, i);
          writer.requireCurrent(stamp, old.commits());
        }
      }
    }
  }

  /** A process that reads until its input ends. */
  static final class Follower {
    private Follower() {}

    public static void main(String[] arguments) {
      AtomicBoolean isOver = new AtomicBoolean();
      Thread input = new Thread(() -> {
        try {
          isOver.set(System.in.read() < 0);
        } catch (IOException e) {
          isOver.set(true);
        }
      });
      input.setDaemon(true);
      input.start();
      long batches = 0;
      Random random = new Random(SEED);
      try (StoreReader reader = StoreReader.open(Path.of(arguments[0]))) {
        while (!isOver.get()) {
          long length = reader.length();
          if (length > 0) {
            try (Batch batch = reader.gather(indices(random, length))) {
              for (int i = 0; i < batch.count(); i++) {
                StampedRecords.stampOf(batch, i);
              }
              if (batches++ == 0) {
                System.out.println("reads");
              }
            } catch (IndexOutOfBoundsException e) {
              // Records were deleted since.
            }
          }
        }
      }
      System.out.println(batches + " batches");
    }
  }
}
