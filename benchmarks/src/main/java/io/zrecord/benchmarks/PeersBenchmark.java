package io.zrecord.benchmarks;

import io.zrecord.benchmarks.PeerStore.Gatherer;
import io.zrecord.benchmarks.PeerStore.Values;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.function.DoubleUnaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Measures the store that is written online against LMDB and RocksDB. All store the same values, of
 * 1 KiB and of 64 KiB, in groups of 4 MiB that survive power loss when they are acknowledged.
 * Measures single durable appends; gathers of 256 random records into a buffer, from data in the
 * page cache (for RocksDB: in its block cache), by one thread and by two; and space on disk.
 * Contestants take turns, with two rounds to warm up, then medians of five. {@link ZRecordPeer},
 * {@link LmdbPeer} and {@link RocksPeer} say how each is set up.
 *
 * <p>2 GiB to gather from. Argument: a work directory with room for 12 GiB.
 */
public final class PeersBenchmark {
  private static final long GROUP_BYTES = 4 << 20;
  private static final long APPEND_BYTES = Effort.of(400L << 20);
  private static final long GATHER_BYTES = Effort.of(2L << 30);
  private static final long GATHERED_BYTES = Effort.of(1L << 30);
  private static final int SINGLE_APPENDS = Effort.rounds(200);
  private static final int BATCH = 256;
  private static final long LEAST_CACHE_BYTES = 400 << 20;

  private final Path work;
  private final Values values;
  private final int groupRecords;
  private final Map<String, Peer> peers = new LinkedHashMap<>();

  /** A contestant and its store. */
  private static final class Peer {
    private final Path path;
    private final Function<Path, PeerStore> opener;
    private @Nullable PeerStore store;

    Peer(Path path, Function<Path, PeerStore> opener) {
      this.path = path;
      this.opener = opener;
    }

    PeerStore store() {
      return java.util.Objects.requireNonNull(store);
    }

    void close() {
      if (store != null) {
        store.close();
        store = null;
      }
    }

    void begin() {
      close();
      try {
        Workplace.delete(path);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      store = opener.apply(path);
    }
  }

  private PeersBenchmark(Path work, int valueBytes) {
    this.work = work;
    this.values = new Values(valueBytes);
    this.groupRecords = (int) (GROUP_BYTES / valueBytes);
    long cacheBytes = Math.max(LEAST_CACHE_BYTES, 2 * GATHER_BYTES);
    peers.put("zrecord", new Peer(work.resolve("zrecord"), ZRecordPeer::new));
    peers.put("LMDB", new Peer(work.resolve("lmdb"), LmdbPeer::new));
    peers.put("RocksDB", new Peer(work.resolve("rocks"), path -> new RocksPeer(path, cacheBytes)));
  }

  public static void main(String[] arguments) throws Exception {
    Path work = Files.createDirectories(Path.of(arguments[0]).resolve("peers"));
    for (int valueBytes : new int[] {1 << 10, 64 << 10}) {
      new PeersBenchmark(work, valueBytes).run();
    }
    Workplace.delete(work);
  }

  private void run() throws Exception {
    System.out.printf(
        "%n| values of %d KiB | %s |%n|---|---|---|---|%n",
        values.bytes() >> 10, String.join(" | ", peers.keySet()));
    appends();
    singleAppends();
    gathers();
    Workplace.delete(work);
    Files.createDirectories(work);
  }

  private Contest contest(Function<Peer, Runnable> preparation, Function<Peer, Runnable> action) {
    Contest contest = new Contest("");
    peers.forEach((name, peer) -> contest.add(name, preparation.apply(peer), action.apply(peer)));
    return contest;
  }

  private static void print(String title, Map<String, Double> numbers, DoubleUnaryOperator unit) {
    System.out.println(numbers.values().stream()
        .map(number -> String.format(Locale.ROOT, "%.2f", unit.applyAsDouble(number)))
        .collect(Collectors.joining(" | ", "| " + title + " | ", " |")));
  }

  private void append(PeerStore store, long records) {
    for (long first = 0; first < records; first += groupRecords) {
      store.append(values, first, (int) Math.min(groupRecords, records - first));
    }
  }

  private void appends() {
    long records = Math.max(groupRecords, APPEND_BYTES / values.bytes());
    Map<String, Double> seconds = contest(
            peer -> peer::begin, peer -> () -> append(peer.store(), records))
        .medians();
    print(
        "appends in groups of " + groupRecords + ", thousand records/s",
        seconds,
        s -> records / s / 1e3);
    print("… MiB/s", seconds, s -> (double) records * values.bytes() / (1 << 20) / s);
    peers.values().forEach(Peer::close);
  }

  private void singleAppends() {
    Map<String, Double> seconds = contest(peer -> peer::begin, peer -> () -> {
          for (int i = 0; i < SINGLE_APPENDS; i++) {
            peer.store().append(values, i, 1);
          }
        })
        .medians();
    print("single durable appends/s", seconds, s -> SINGLE_APPENDS / s);
  }

  private void gathers() throws Exception {
    long records = Math.max(4L * BATCH, GATHER_BYTES / values.bytes());
    for (Peer peer : peers.values()) {
      peer.begin();
      append(peer.store(), records);
      peer.store().settle();
      verifyAll(peer.store(), records);
    }
    int gathers = (int) Math.max(4, GATHERED_BYTES / values.bytes() / BATCH);
    for (int threads = 1; threads <= 2; threads++) {
      int count = threads;
      int[] round = {0};
      Map<String, Double> seconds = contest(
              peer -> () -> round[0]++,
              peer -> () ->
                  gather(peer.store(), count, gathers, records, (round[0] - 1) / peers.size()))
          .medians();
      double bytes = (double) threads * gathers * BATCH * values.bytes();
      print(
          "gathers of " + BATCH + ", threads: " + threads + ", GiB/s",
          seconds,
          s -> bytes / s / (1 << 30));
    }
    Map<String, Double> sizes = new LinkedHashMap<>();
    for (Map.Entry<String, Peer> peer : peers.entrySet()) {
      peer.getValue().close();
      sizes.put(peer.getKey(), (double) Workplace.bytesOnDisk(peer.getValue().path));
    }
    print("space / bytes of values", sizes, bytes -> bytes / records / values.bytes());
  }

  private void gather(PeerStore store, int threads, int gathers, long records, int seed) {
    try {
      Workplace.inParallel(threads, thread -> {
        Random random = new Random(31L * seed + thread);
        ByteBuffer target = ByteBuffer.allocateDirect(BATCH * values.bytes());
        try (Gatherer gatherer = store.newGatherer()) {
          for (int i = 0; i < gathers; i++) {
            gatherer.gather(random.longs(BATCH, 0, records).toArray(), target.clear());
          }
        }
        return thread;
      });
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Verifies all values. Also brings the values into memory, and lets stores compare the checksums
   * that they compare once.
   */
  private void verifyAll(PeerStore store, long records) {
    ByteBuffer target = ByteBuffer.allocateDirect(BATCH * values.bytes());
    try (Gatherer gatherer = store.newGatherer()) {
      for (long first = 0; first + BATCH <= records; first += BATCH) {
        long[] numbers = new long[BATCH];
        for (int i = 0; i < BATCH; i++) {
          numbers[i] = first + i;
        }
        gatherer.gather(numbers, target.clear());
        for (int i = 0; i < BATCH; i++) {
          if (!target.slice(i * values.bytes(), values.bytes()).equals(values.buffer(first + i))) {
            throw new IllegalStateException("another value at " + (first + i));
          }
        }
      }
    }
  }
}
