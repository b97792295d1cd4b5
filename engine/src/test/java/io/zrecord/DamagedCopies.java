package io.zrecord;

import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.FileDamage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Copies a dataset, damages one file of each copy, each kind of file equally often, reads it with a
 * time limit, and counts what came of it by file and outcome. The number of a copy and the seed say
 * what is done to it.
 */
final class DamagedCopies {
  private static final int THREADS = 3;
  private static final int MINUTES = 5;
  private static final long MOST_ALLOCATED_BYTES = 64L << 20;

  private final Path directory;
  private final long seed;
  private final RecordSchema schema;
  private final Reader reader;
  private final AtomicInteger next = new AtomicInteger();
  private final Map<String, Map<Outcome, Integer>> counts = new TreeMap<>();
  private final Map<String, Integer> refusals = new TreeMap<>();
  private final List<String> failures = new ArrayList<>();

  /**
   * A dataset before the damage.
   *
   * @param files contents by name
   * @param states what it may be read as: records of values by field; the newest one comes last
   * @param journal a file that may be cut without notice, which leaves an earlier state; empty if
   *     there is none
   */
  record Original(
      Map<String, byte[]> files, List<List<byte[] @Nullable []>> states, String journal) {
    static Original of(Path directory, List<List<byte[] @Nullable []>> states, String journal)
        throws IOException {
      return new Original(FileMapStorage.of(directory).files(), states, journal);
    }

    /** Writes the files, over what is there. */
    void copyTo(Path copy) throws IOException {
      for (Map.Entry<String, byte[]> file : files.entrySet()) {
        Path path = copy.resolve(file.getKey());
        Files.createDirectories(path.getParent());
        Files.write(path, file.getValue());
      }
    }
  }

  /** Opens a copy. */
  interface Reader {
    DamagedReading.Records open(Path copy);
  }

  enum Outcome {
    /** All was read as it was. */
    INTACT,
    /** All was read, of an earlier state, because the journal was cut. */
    EARLIER,
    /** A typed exception, and what was read besides is right. */
    REFUSED,
    /** The journal was cut, and what was read belongs to no one state. */
    MIXED,
    WRONG,
    /** Another exception. */
    UNTYPED,
    /** A step allocated more than 64 MiB. */
    GREEDY,
    HANGING
  }

  DamagedCopies(Path directory, long seed, RecordSchema schema, Reader reader) {
    this.directory = directory;
    this.seed = seed;
    this.schema = schema;
    this.reader = reader;
  }

  /** Damages more copies, twenty at a time, until one came to an outcome, or there are as many. */
  DamagedCopies runUntil(Outcome outcome, int mostCopies, List<Original> originals)
      throws Exception {
    while (count(outcome) == 0 && next.get() < mostCopies) {
      run(Math.min(20, mostCopies - next.get()), originals);
    }
    return this;
  }

  /** Damages more copies of the originals in turns. */
  DamagedCopies run(int copies, List<Original> originals) throws Exception {
    int end = next.get() + copies;
    ExecutorService readers = Executors.newCachedThreadPool(task -> {
      Thread thread = new Thread(task, "reader of a damaged copy");
      thread.setDaemon(true);
      return thread;
    });
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    Callable<Void> loop = () -> {
      for (int copy = nextBelow(end); copy < end; copy = nextBelow(end)) {
        one(copy, originals.get(copy % originals.size()), readers);
      }
      return null;
    };
    try {
      for (Future<Void> done : pool.invokeAll(java.util.Collections.nCopies(THREADS, loop))) {
        done.get();
      }
    } finally {
      pool.shutdown();
      readers.shutdown();
    }
    return this;
  }

  private int nextBelow(int end) {
    return next.getAndUpdate(copy -> Math.min(copy + 1, end));
  }

  private void one(int number, Original original, ExecutorService readers) throws Exception {
    Random random = new Random(seed + 0x9e37_79b9_7f4a_7c15L * number);
    List<String> names = List.copyOf(original.files().keySet());
    List<String> kinds = names.stream().map(DamagedCopies::kind).distinct().toList();
    String kind = kinds.get(random.nextInt(kinds.size()));
    List<String> candidates =
        names.stream().filter(file -> kind(file).equals(kind)).toList();
    String name = candidates.get(random.nextInt(candidates.size()));
    byte[] content = original.files().get(name);
    FileDamage damage;
    byte[] damaged;
    do {
      damage = FileDamage.any(random);
      byte[] other = original.files().get(names.get(random.nextInt(names.size())));
      damaged = damage.of(content, other, random);
    } while (Arrays.equals(content, damaged));
    Path copy = directory.resolve("copy-" + number);
    original.copyTo(copy);
    Files.write(copy.resolve(name), damaged);
    boolean isJournal = name.equals(original.journal());
    DamagedReading reading = new DamagedReading(
        schema,
        isJournal
            ? original.states()
            : original
                .states()
                .subList(original.states().size() - 1, original.states().size()));
    String what = "copy " + number + ", " + name + " " + damage;
    Future<DamagedReading> running = readers.submit(() -> reading.run(() -> reader.open(copy)));
    try {
      count(what, name, outcome(running.get(MINUTES, TimeUnit.MINUTES), isJournal), reading, null);
    } catch (ExecutionException e) {
      count(what, name, Outcome.UNTYPED, reading, e.getCause());
    } catch (TimeoutException e) {
      count(what, name, Outcome.HANGING, reading, e);
      running.cancel(true);
      return;
    }
    delete(copy);
  }

  private static Outcome outcome(DamagedReading reading, boolean isJournal) {
    if (reading.mistake() != null) {
      return isJournal ? Outcome.MIXED : Outcome.WRONG;
    }
    if (reading.mostAllocatedBytes() > MOST_ALLOCATED_BYTES) {
      return Outcome.GREEDY;
    }
    if (reading.refusal() != null) {
      return Outcome.REFUSED;
    }
    return reading.isEarlier() ? Outcome.EARLIER : Outcome.INTACT;
  }

  private synchronized void count(
      String what,
      String name,
      Outcome outcome,
      DamagedReading reading,
      @Nullable Throwable cause) {
    counts.computeIfAbsent(kind(name), file -> new TreeMap<>()).merge(outcome, 1, Integer::sum);
    ZRecordException refusal = reading.refusal();
    if (refusal != null) {
      refusals.merge(refusal.getClass().getSimpleName(), 1, Integer::sum);
    }
    if (outcome.compareTo(Outcome.REFUSED) > 0) {
      failures.add(what + ": " + outcome + ", " + (cause == null ? reading.mistake() : cause));
    }
  }

  /** Returns the kind of a file; files of one kind count together. */
  private static String kind(String name) {
    String file = name.substring(name.lastIndexOf('/') + 1);
    return file.substring(Math.max(0, file.lastIndexOf('.')))
        .replaceFirst("^[.]json$", file)
        .replaceFirst("^[0-9]+[.]json$", "manifest");
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }

  /** Returns how many copies came to an outcome. */
  int count(Outcome outcome) {
    return counts.values().stream().mapToInt(of -> of.getOrDefault(outcome, 0)).sum();
  }

  /** Returns what was not as it must be, a line for each copy, with its number. */
  List<String> failures(Outcome outcome) {
    return failures.stream().filter(line -> line.contains(": " + outcome + ",")).toList();
  }

  @Override
  public String toString() {
    int copies = counts.values().stream()
        .flatMap(of -> of.values().stream())
        .mapToInt(Integer::intValue)
        .sum();
    return copies + " damaged copies, seed " + seed + ": " + counts + "; refusals " + refusals;
  }
}
