package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.rewrite.StoreRewrite;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.testing.PowerLossFiles;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Two writers have a store open, because the first lost its lock. The first is stopped before any
 * of its calls, or after its look for its token. Then the second works up to any of its calls, then
 * the first to its end, then the second, unless it dies where it was: what either acknowledged is
 * there, and no record has fields of two versions. Writers that do not look for their token lose
 * something, and so do writers that leave the journal to the other, or this would prove nothing.
 */
final class TwoWritersTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("x", ElementType.I64)
      .field("y", ElementType.I64)
      .build();
  private static final int PRESENT = 3;
  private static final int COMMITS = 3;
  private static final int NEVER = Integer.MAX_VALUE;

  /** Stops of the second writer for each stop of the first, besides none. */
  private static final int STOPS = Math.max(1, Budget.of(5));

  /** The stops of the first are at most this far apart, by chance. */
  private static final int STRIDE = Math.max(1, 6 / STOPS);

  private final ExecutorService threads = Executors.newCachedThreadPool();

  @AfterEach
  void endThreads() {
    threads.shutdownNow();
  }

  private static StoreOptions options() {
    return StoreOptions.defaults()
        .withWriters(1)
        .withReaders(0)
        .withChunkBytes(1 << 12)
        .withCheckpointBytes(1 << 12);
  }

  /** What a writer does with a store. */
  private enum Script {
    COMMIT,
    CHECKPOINT,
    STAY_OPEN,
    REBALANCE
  }

  /** Stops its thread before one of its steps. */
  private static final class Stops {
    final Semaphore isStopped = new Semaphore(0);
    final Semaphore goesOn = new Semaphore(0);

    /** The steps that wrote to the journal, or would have. */
    final List<Integer> journalWrites = new ArrayList<>();

    private final int stopAt;
    private int steps;
    private volatile boolean isDead;

    Stops(int stopAt) {
      this.stopAt = stopAt;
    }

    void step() {
      if (steps++ == stopAt) {
        isStopped.release();
        goesOn.acquireUninterruptibly();
      }
      if (isDead) {
        throw new IllegalStateException("killed");
      }
    }
  }

  /** What keeps a writer from losing what another acknowledged. */
  private enum Habits {
    GOOD,
    NEVER_LOOKS,
    KEEPS_THE_JOURNAL
  }

  private static final class StoppedFiles extends ForwardingFiles {
    private final Stops stops;
    private final Habits habits;

    StoppedFiles(MutableFiles files, Stops stops, Habits habits) {
      super(files);
      this.stops = stops;
      this.habits = habits;
    }

    @Override
    public boolean exists(String name) {
      if (!name.startsWith("writer-")) {
        return super.exists(name);
      }
      stops.step();
      boolean exists = super.exists(name) || habits == Habits.NEVER_LOOKS;
      stops.step();
      return exists;
    }

    @Override
    public List<String> list(String directory) {
      stops.step();
      return super.list(directory);
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      stops.step();
      return super.read(name, maxBytes);
    }

    @Override
    public MutableFile open(String name, boolean writable) {
      stops.step();
      return new StoppedFile(super.open(name, writable), stops);
    }

    @Override
    public MutableFile create(String name) {
      stops.step();
      return new StoppedFile(super.create(name), stops);
    }

    @Override
    public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
      stops.step();
      if (habits != Habits.KEEPS_THE_JOURNAL || !name.equals("journal")) {
        super.replace(name, file -> writing.accept(new StoppedFile(file, stops)), lastCheck);
      }
    }

    @Override
    public void dropReplacements() {
      stops.step();
      super.dropReplacements();
    }

    @Override
    public void delete(String name) {
      stops.step();
      super.delete(name);
    }
  }

  private static final class StoppedFile extends ForwardingFile {
    private final Stops stops;

    StoppedFile(MutableFile file, Stops stops) {
      super(file);
      this.stops = stops;
    }

    @Override
    public void write(long position, ByteBuffer source) {
      if (path().equals("journal")) {
        stops.journalWrites.add(stops.steps);
      }
      stops.step();
      super.write(position, source);
    }

    @Override
    public void setLength(long lengthBytes) {
      stops.step();
      super.setLength(lengthBytes);
    }

    @Override
    public void force() {
      stops.step();
      super.force();
    }
  }

  /** A writer, and what it knows of what it did. */
  private static final class Writer {
    private final MutableFiles files;
    private final Stops stops;
    private final long first;
    final List<Long> acknowledged = new ArrayList<>();
    volatile boolean isOpen;
    boolean isDead;

    @Nullable
    ZRecordException failure;

    private long attempted;

    Writer(MutableFiles files, int stopAt, long first, Habits habits) {
      this.stops = new Stops(stopAt);
      this.files = new StoppedFiles(files, stops, habits);
      this.first = first;
      this.attempted = first;
    }

    void run(Script script) {
      try {
        if (script == Script.REBALANCE) {
          rebalance();
        } else {
          commit(script);
        }
      } catch (ZRecordException e) {
        failure = e;
      } finally {
        stops.isStopped.release();
      }
    }

    private void rebalance() {
      WriterToken token =
          StoreRecovery.open(files, RecordStore.limits(options())).closeForChange();
      isOpen = true;
      new StoreRewrite(
              files, token, SCHEMA.fields(), new StoreRewrite.Layout(1 << 12, 1 << 12), b -> {})
          .run();
      token.release();
    }

    private void commit(Script script) {
      RecordStore store = RecordStore.open(files, options(), () -> {});
      isOpen = true;
      for (int i = 0; i < COMMITS; i++) {
        attempted++;
        store.append(store.newValues().set("x", attempted).set("y", attempted));
        store.update(0, store.newValues().set("x", attempted).set("y", attempted));
        store.commit();
        acknowledged.add(attempted);
        if (script == Script.CHECKPOINT) {
          store.checkpoint();
        }
      }
      if (script != Script.STAY_OPEN) {
        store.close();
      }
    }

    long last() {
      return acknowledged.isEmpty() ? first : acknowledged.get(acknowledged.size() - 1);
    }

    /** Tells whether record 0 may have a value after this writer was the last. */
    boolean mayHaveLeft(long value) {
      return value == last() || ((failure != null || isDead) && value == attempted);
    }
  }

  /** Makes a store that its writer closed, or that a writer left which was killed. */
  private static PowerLossFiles store(boolean isClosed) {
    PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
    RecordStore store = RecordStore.create(files, SCHEMA, options(), () -> {});
    for (long i = 0; i < PRESENT; i++) {
      store.append(store.newValues().set("x", i).set("y", i));
    }
    store.commit();
    if (isClosed) {
      store.close();
    }
    return files;
  }

  /** How two writers meet: where each is stopped, and whether the second dies there. */
  private record Meeting(
      Script one,
      int stopOne,
      Script two,
      int stopTwo,
      boolean isClosedBefore,
      boolean isSecondKilled,
      Habits habits) {}

  /** The result of an order: what is wrong, and whether the first writer came to its stop. */
  private record Outcome(
      @Nullable String problem,
      boolean isStopped,
      boolean isSecondStopped,
      boolean isReplaced,
      List<Integer> journalWrites) {}

  private Outcome run(Meeting meeting) throws Exception {
    PowerLossFiles files = store(meeting.isClosedBefore);
    Script two = meeting.two;
    Writer first = new Writer(files, meeting.stopOne, 1_000, meeting.habits);
    Writer second = new Writer(files, meeting.stopTwo, 2_000, meeting.habits);
    Future<?> firstRun = threads.submit(() -> first.run(meeting.one));
    first.stops.isStopped.acquireUninterruptibly();
    boolean isStopped = !isOver(first);
    boolean wasOpen = first.isOpen;
    Future<?> secondRun = threads.submit(() -> second.run(two));
    second.stops.isStopped.acquireUninterruptibly();
    boolean isSecondStopped = !isOver(second);
    first.stops.goesOn.release();
    firstRun.get();
    second.isDead = isSecondStopped && meeting.isSecondKilled;
    if (!second.isDead) {
      second.stops.goesOn.release();
      secondRun.get();
    }
    String problem;
    try {
      problem = problem(files, first, second, wasOpen, two);
    } catch (ZRecordException e) {
      problem = e.toString();
    }
    if (second.isDead) {
      // Its thread ends, and with it the memory of its files.
      second.stops.isDead = true;
      second.stops.goesOn.release();
    }
    return new Outcome(
        problem,
        isStopped,
        isSecondStopped,
        first.failure instanceof WriterReplacedException,
        first.stops.journalWrites);
  }

  private static boolean isOver(Writer writer) {
    return writer.stops.steps <= writer.stops.stopAt;
  }

  private static @Nullable String problem(
      PowerLossFiles files, Writer first, Writer second, boolean wasOpen, Script two) {
    // Of two rebalances at once, each may find files of the other.
    if (wasOpen && second.failure != null && two != Script.REBALANCE) {
      return "the second writer failed: " + second.failure;
    }
    try (RecordStore store = RecordStore.open(files, options(), () -> {})) {
      Map<Long, Integer> found = new HashMap<>();
      long zero = -1;
      for (long index = 0; index < store.length(); index++) {
        try (Batch batch = store.gather(new long[] {index})) {
          long x = batch.value("x", 0).getLong();
          if (x != batch.value("y", 0).getLong()) {
            return "record " + index + " has fields of two versions";
          }
          zero = index == 0 ? x : zero;
          found.merge(index == 0 ? -1 : x, 1, Integer::sum);
        }
      }
      for (Writer writer : List.of(first, second)) {
        for (long id : writer.acknowledged) {
          if (found.getOrDefault(id, 0) != 1) {
            return id + " was acknowledged and is there " + found.getOrDefault(id, 0) + " times";
          }
        }
      }
      boolean isRight = second.acknowledged.isEmpty()
          ? first.mayHaveLeft(zero) || second.mayHaveLeft(zero) || zero == 0
          : second.mayHaveLeft(zero) || (!wasOpen && first.mayHaveLeft(zero));
      if (!isRight || (zero == 0 && !first.acknowledged.isEmpty())) {
        return "record 0 is " + zero + " after " + first.last() + " and " + second.last();
      }
      return null;
    }
  }

  @ParameterizedTest
  @CsvSource({
    "COMMIT, COMMIT",
    "COMMIT, CHECKPOINT",
    "COMMIT, STAY_OPEN",
    "COMMIT, REBALANCE",
    "CHECKPOINT, COMMIT",
    "CHECKPOINT, STAY_OPEN",
    "CHECKPOINT, REBALANCE",
    "REBALANCE, COMMIT",
    "REBALANCE, STAY_OPEN",
    "REBALANCE, REBALANCE"
  })
  void whatIsAcknowledgedIsThereWhereverTheFirstIsStopped(Script one, Script two) throws Exception {
    Random random = Budget.random();
    int replaced = 0;
    int orders = 0;
    boolean isStopped = true;
    for (int stop = 0; isStopped; stop += 1 + random.nextInt(STRIDE)) {
      isStopped = false;
      int last = 60;
      for (int i = 0; i <= STOPS; i++) {
        int stopTwo = i == 0 ? NEVER : random.nextInt(last);
        Meeting meeting = new Meeting(
            one, stop, two, stopTwo, random.nextBoolean(), random.nextBoolean(), Habits.GOOD);
        Outcome outcome = run(meeting);
        assertThat(outcome.problem()).as("%s", meeting).isNull();
        isStopped |= outcome.isStopped();
        last = outcome.isSecondStopped() || i == 0 ? last + 10 : Math.max(20, stopTwo);
        replaced += outcome.isReplaced() ? 1 : 0;
        orders++;
      }
    }
    System.out.printf("%s, %s: %d orders, the first replaced in %d%n", one, two, orders, replaced);
    assertThat(replaced).isPositive();
  }

  /**
   * Lets the first writer write to its journal late, after the second has come, and lets the second
   * die before each of its steps.
   */
  private int lostByDeaths(Habits habits, int stride) throws Exception {
    int lost = 0;
    int orders = 0;
    for (boolean isClosedBefore : new boolean[] {true, false}) {
      List<Integer> writes = run(new Meeting(
              Script.COMMIT, NEVER, Script.COMMIT, NEVER, isClosedBefore, false, Habits.GOOD))
          .journalWrites();
      int late = writes.get(writes.size() - 1);
      boolean isSecondStopped = true;
      for (int stop = 0; isSecondStopped; stop += stride) {
        Meeting meeting =
            new Meeting(Script.COMMIT, late, Script.COMMIT, stop, isClosedBefore, true, habits);
        Outcome outcome = run(meeting);
        isSecondStopped = outcome.isSecondStopped();
        if (habits == Habits.GOOD) {
          assertThat(outcome.problem()).as("%s", meeting).isNull();
        }
        lost += outcome.problem() == null ? 0 : 1;
        orders++;
      }
    }
    System.out.printf("%s: %d of %d deaths lost something%n", habits, lost, orders);
    return lost;
  }

  @Test
  void aStoreOpensWhereverItsSecondWriterDied() throws Exception {
    assertThat(lostByDeaths(Habits.GOOD, 1)).isZero();
  }

  @Test
  void aStoreWhoseJournalStaysOpenToTheFirstWriterIsLostByADeathOfTheSecond() throws Exception {
    assertThat(lostByDeaths(Habits.KEEPS_THE_JOURNAL, 1)).isPositive();
  }

  @Test
  void writersThatDoNotLookLoseSomething() throws Exception {
    int lost = 0;
    int orders = 0;
    for (Script one : List.of(Script.COMMIT, Script.CHECKPOINT, Script.REBALANCE)) {
      boolean isStopped = true;
      for (int stop = 0; isStopped; stop++) {
        Outcome outcome =
            run(new Meeting(one, stop, Script.COMMIT, NEVER, true, false, Habits.NEVER_LOOKS));
        isStopped = outcome.isStopped();
        lost += outcome.problem() == null ? 0 : 1;
        orders++;
      }
    }
    System.out.printf("Without looking: %d of %d orders lost something%n", lost, orders);
    assertThat(lost).isPositive();
  }
}
