package io.zrecord.benchmarks;

import io.zrecord.Batch;
import io.zrecord.benchmarks.PeerStore.Values;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.RecordStore;
import io.zrecord.store.RecordValues;
import io.zrecord.store.StoreDurability;
import io.zrecord.store.StoreOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.function.Function;

/**
 * Measures the store that is written online, with records of 1 KiB: appends in groups against a
 * plain channel that writes and forces the same bytes, single durable appends against LMDB and
 * RocksDB and of sixteen threads, gathers against plain copies, without other work and while
 * another thread appends and updates, and opening. Figures are medians of five; contestants take
 * turns. Arguments: a work directory with room for 8 GiB, and what to measure of {@code appends},
 * {@code single} and {@code gathers}, by default all.
 */
public final class StoreBenchmark {
  private static final int VALUE_BYTES = 1024;
  private static final int GROUP = 4096;
  private static final int BATCH = 256;
  private static final int GROUPS = Effort.of(100);
  private static final int REPEATS = Effort.rounds(5);
  private static final int GATHER_RECORDS = Effort.of(3 << 20) / BATCH * BATCH;
  private static final int BATCHES = Effort.of(4096);
  private static final int SINGLES = Effort.of(1000);
  private static final int SINGLES_OF_A_THREAD = Effort.of(500);
  private static final long CACHE_BYTES = 64 << 20;
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.BYTES).build();

  private final Path work;

  private StoreBenchmark(Path work) {
    this.work = work;
  }

  public static void main(String[] arguments) throws Exception {
    Path work = Files.createDirectories(Path.of(arguments[0]));
    StoreBenchmark benchmark = new StoreBenchmark(work);
    List<String> parts = arguments.length == 1
        ? List.of("appends", "single", "gathers")
        : List.of(arguments).subList(1, arguments.length);
    for (String part : parts) {
      switch (part) {
        case "appends" -> benchmark.appends();
        case "single" -> {
          benchmark.singleAppendsBesidePeers();
          benchmark.singleAppends();
        }
        case "gathers" -> benchmark.gathers();
        default ->
          throw new IllegalArgumentException(
              "There is no part '" + part + "'; choose appends, single or gathers");
      }
    }
  }

  private static byte[] noise(long seed) {
    return Workplace.noise(VALUE_BYTES, seed);
  }

  private void appends() throws IOException {
    byte[] value = noise(1);
    double[] store = new double[REPEATS];
    double[] plain = new double[REPEATS];
    for (int round = -Effort.warmUps(1); round < REPEATS; round++) {
      double ours = appendToStore(value);
      double theirs = appendPlainly(value);
      if (round >= 0) {
        store[round] = ours;
        plain[round] = theirs;
      }
    }
    double bytes = (double) GROUPS * GROUP * VALUE_BYTES / (1 << 20);
    System.out.printf(
        Locale.ROOT,
        "Appends of 1 KiB, groups of %d, durable: store %.0f MiB/s, plain channel %.0f MiB/s, ratio %.2f%n",
        GROUP,
        bytes / Contest.median(store),
        bytes / Contest.median(plain),
        Contest.median(plain) / Contest.median(store));
  }

  private double appendToStore(byte[] value) throws IOException {
    Path path = work.resolve("append");
    double seconds;
    try (RecordStore store =
        RecordStore.create(path, SCHEMA, StoreOptions.defaults().withWriters(1))) {
      RecordValues record = store.newValues().set("value", value);
      long start = System.nanoTime();
      for (int group = 0; group < GROUPS; group++) {
        for (int i = 0; i < GROUP; i++) {
          store.append(record);
        }
        store.commit();
      }
      seconds = (System.nanoTime() - start) / 1e9;
    }
    Workplace.delete(path);
    return seconds;
  }

  private double appendPlainly(byte[] value) throws IOException {
    Path path = work.resolve("plain");
    ByteBuffer group = ByteBuffer.allocateDirect(GROUP * VALUE_BYTES);
    double seconds;
    try (FileChannel channel =
        FileChannel.open(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      long start = System.nanoTime();
      for (int i = 0; i < GROUPS; i++) {
        group.clear();
        while (group.hasRemaining()) {
          group.put(value);
        }
        group.flip();
        while (group.hasRemaining()) {
          channel.write(group);
        }
        channel.force(false);
      }
      seconds = (System.nanoTime() - start) / 1e9;
    }
    Files.delete(path);
    return seconds;
  }

  private void singleAppendsBesidePeers() throws IOException {
    Map<String, Function<Path, PeerStore>> openers = new LinkedHashMap<>();
    openers.put("zrecord", ZRecordPeer::new);
    openers.put("LMDB", LmdbPeer::new);
    openers.put("RocksDB", path -> new RocksPeer(path, CACHE_BYTES));
    Values values = new Values(VALUE_BYTES);
    Map<String, PeerStore> stores = new LinkedHashMap<>();
    openers.forEach((name, opener) -> stores.put(name, opener.apply(work.resolve(name))));
    Contest contest = new Contest("");
    Map<String, Long> lengths = new HashMap<>();
    stores.forEach((name, store) -> contest.add(name, () -> {
      long first = lengths.merge(name, (long) SINGLES, Long::sum) - SINGLES;
      for (long i = first; i < first + SINGLES; i++) {
        store.append(values, i, 1);
      }
    }));
    Map<String, Double> seconds = contest.medians();
    stores.values().forEach(PeerStore::close);
    for (String name : openers.keySet()) {
      Workplace.delete(work.resolve(name));
    }
    double ours = SINGLES / Objects.requireNonNull(seconds.get("zrecord"));
    double lmdb = SINGLES / Objects.requireNonNull(seconds.get("LMDB"));
    double rocks = SINGLES / Objects.requireNonNull(seconds.get("RocksDB"));
    System.out.printf(
        Locale.ROOT,
        "Single durable appends of 1 KiB a second: store %.0f, LMDB %.0f, RocksDB %.0f, ratio to the better %.2f%n",
        ours,
        lmdb,
        rocks,
        ours / Math.max(lmdb, rocks));
  }

  private void singleAppends() throws Exception {
    double[] one = new double[REPEATS];
    double[] many = new double[REPEATS];
    for (int round = 0; round < REPEATS; round++) {
      one[round] = singleAppends(1, SINGLES_OF_A_THREAD);
      many[round] = singleAppends(16, SINGLES_OF_A_THREAD);
    }
    System.out.printf(
        Locale.ROOT,
        "Single durable appends a second: 1 thread %.0f, 16 threads %.0f, ratio %.1f%n",
        Contest.median(one),
        Contest.median(many),
        Contest.median(many) / Contest.median(one));
  }

  private double singleAppends(int threads, int each) throws Exception {
    Path path = work.resolve("single");
    byte[] value = noise(2);
    double rate;
    try (RecordStore store = RecordStore.create(
        path, SCHEMA, StoreOptions.defaults().withDurability(StoreDurability.EVERY_RECORD))) {
      long start = System.nanoTime();
      Workplace.inParallel(threads, thread -> {
        RecordValues record = store.newValues().set("value", value);
        for (int i = 0; i < each; i++) {
          store.append(record);
        }
        return 0.0;
      });
      rate = (double) threads * each / ((System.nanoTime() - start) / 1e9);
    }
    Workplace.delete(path);
    return rate;
  }

  private void gathers() throws Exception {
    Path path = work.resolve("gather");
    StoreOptions options =
        StoreOptions.defaults().withDurability(StoreDurability.NONE).withWriters(1);
    try (RecordStore store = RecordStore.create(path, SCHEMA, options)) {
      RecordValues record = store.newValues();
      for (long i = 0; i < GATHER_RECORDS; i++) {
        store.append(record.set("value", noise(i)));
      }
      store.commit();
      verifyAll(store);
      List<ByteBuffer> chunks = chunks(path);
      for (int threads = 1; threads <= 2; threads++) {
        List<double[]> found =
            Workplace.inParallel(threads, thread -> compare(store, chunks, thread));
        double plain = found.stream().mapToDouble(rates -> rates[0]).sum();
        double ours = found.stream().mapToDouble(rates -> rates[1]).sum();
        System.out.printf(
            Locale.ROOT,
            "Gathers of %d random records, %d threads: store %.2f GiB/s, plain copy %.2f GiB/s, ratio %.2f%n",
            BATCH,
            threads,
            ours,
            plain,
            ours / plain);
      }
      gatherWhileWriting(store);
    }
    double opening = 0;
    for (int i = 0; i < REPEATS; i++) {
      long start = System.nanoTime();
      RecordStore.open(path, options).close();
      opening = (System.nanoTime() - start) / 1e6;
    }
    System.out.printf(
        Locale.ROOT, "Opening and closing %d records: %.1f ms%n", GATHER_RECORDS, opening);
    Workplace.delete(path);
  }

  private static void gatherWhileWriting(RecordStore store) throws Exception {
    double quiet = gatherRate(store, new Random(5), REPEATS);
    boolean[] isDone = {false};
    long[] changes = {0};
    Thread writer = new Thread(() -> {
      Random random = new Random(6);
      RecordValues record = store.newValues();
      while (!isDone[0]) {
        for (int i = 0; i < 64; i++) {
          record.set("value", noise(i));
          store.update(random.nextInt(GATHER_RECORDS), record);
          store.append(record);
        }
        store.commit();
        changes[0] += 128;
        try {
          Thread.sleep(5);
        } catch (InterruptedException e) {
          return;
        }
      }
    });
    writer.start();
    double busy = gatherRate(store, new Random(7), REPEATS);
    isDone[0] = true;
    writer.join();
    System.out.printf(
        Locale.ROOT,
        "Gathers of one thread while another made %d changes: %.2f GiB/s, quiet %.2f, ratio %.2f%n",
        changes[0],
        busy,
        quiet,
        busy / quiet);
  }

  private static double gatherRate(RecordStore store, Random random, int rounds) {
    double[] rates = new double[rounds];
    ByteBuffer target = ByteBuffer.allocateDirect(BATCH * VALUE_BYTES);
    for (int round = 0; round < rounds; round++) {
      rates[round] = gather(store, random, target);
    }
    return Contest.median(rates);
  }

  private static double gather(RecordStore store, Random random, ByteBuffer target) {
    long[] all = random.longs((long) BATCH * BATCHES, 0, GATHER_RECORDS).toArray();
    long start = System.nanoTime();
    for (int from = 0; from < all.length; from += BATCH) {
      try (Batch batch = store.gather(Arrays.copyOfRange(all, from, from + BATCH), "value")) {
        batch.copyAll("value", target.clear());
      }
    }
    return rate(start, (long) all.length * VALUE_BYTES);
  }

  /**
   * Compares gathers with a plain copy. Records are stored one after the other, so the plain copy
   * knows the places of the same number of records.
   */
  private static double[] compare(RecordStore store, List<ByteBuffer> chunks, int thread) {
    Random random = new Random(thread);
    ByteBuffer target = ByteBuffer.allocateDirect(BATCH * VALUE_BYTES);
    double[] plain = new double[REPEATS];
    double[] ours = new double[REPEATS];
    for (int round = -Effort.warmUps(2); round < REPEATS; round++) {
      double gathered = gather(store, random, target);
      double copied = copyPlainly(chunks, random, target);
      if (round >= 0) {
        ours[round] = gathered;
        plain[round] = copied;
      }
    }
    return new double[] {Contest.median(plain), Contest.median(ours)};
  }

  private static double copyPlainly(List<ByteBuffer> chunks, Random random, ByteBuffer target) {
    int count = BATCH * BATCHES;
    int[] chunk = new int[count];
    int[] position = new int[count];
    for (int i = 0; i < count; i++) {
      chunk[i] = random.nextInt(chunks.size());
      int values = (chunks.get(chunk[i]).capacity() - 64) / VALUE_BYTES;
      position[i] = 64 + random.nextInt(values) * VALUE_BYTES;
    }
    long start = System.nanoTime();
    for (int i = 0; i < count; i++) {
      target.put(i % BATCH * VALUE_BYTES, chunks.get(chunk[i]), position[i], VALUE_BYTES);
    }
    return rate(start, (long) count * VALUE_BYTES);
  }

  private static double rate(long start, long bytes) {
    return bytes / (double) (1 << 30) / ((System.nanoTime() - start) / 1e9);
  }

  private static void verifyAll(RecordStore store) {
    ByteBuffer target = ByteBuffer.allocateDirect(BATCH * VALUE_BYTES);
    long[] indices = new long[BATCH];
    for (long from = 0; from < GATHER_RECORDS; from += BATCH) {
      for (int i = 0; i < BATCH; i++) {
        indices[i] = from + i;
      }
      try (Batch batch = store.gather(indices, "value")) {
        batch.copyAll("value", target.clear());
      }
    }
  }

  private static List<ByteBuffer> chunks(Path store) throws IOException {
    List<ByteBuffer> chunks = new ArrayList<>();
    try (var files = Files.list(store.resolve("chunk"))) {
      for (Path file : files.toList()) {
        try (FileChannel channel = FileChannel.open(file)) {
          chunks.add(channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size()));
        }
      }
    }
    return chunks;
  }
}
