package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.errors.WriterReplacedException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.LiveState;
import io.zrecord.internal.store.StoreMetaFile;
import io.zrecord.internal.store.WriterToken;
import io.zrecord.internal.store.rewrite.StoreRewrite;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.store.StoppedFiles.Habits;
import io.zrecord.store.StoppedFiles.Stops;
import io.zrecord.testing.Budget;
import io.zrecord.testing.PowerLossFiles;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two or three writers have a store open, because the first lost its lock. The first is stopped
 * before any of its calls, or after its look for its token. Then the second works up to any of its
 * calls, and so does the third. Then they go on in either order, unless they die where they were:
 * what any acknowledged is there, and no record has fields of two versions. Writers that do not
 * look for their token lose something, and so do writers that leave the journal to the other, and
 * those that delete what they listed whoever came meanwhile, or this would prove nothing.
 */
final class TwoWritersTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("x", ElementType.I64)
      .field("y", ElementType.I64)
      .build();
  private static final int PRESENT = 3;
  private static final int COMMITS = 3;
  private static final int NEVER = Integer.MAX_VALUE;

  /** Names that the next recovery or chunk would take. */
  private static final List<String> LEFTOVERS = List.of(
      "field-1-1.offset",
      "field-1-1.crc32c",
      "field-2-1.offset",
      "field-2-1.crc32c",
      "chunk/1.zr",
      "chunk/2.zr");

  /** More steps than most scripts have. */
  private static final int STEPS = 120;

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
    OPEN,
    COMMIT,
    CHECKPOINT,
    STAY_OPEN,
    REBALANCE
  }

  /** A writer, and what it knows of what it did. */
  private static final class Writer {
    private final MutableFiles files;
    private final Stops stops;
    private final long first;
    final List<Long> acknowledged = new ArrayList<>();
    volatile boolean isOpen;
    boolean isDead;

    /** Whether all that came before were open or over, so that none can hinder its opening. */
    boolean isAlone;

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
      LiveState.close(files, StoreMetaFile.read(files).shard().id(), token);
    }

    private void commit(Script script) {
      RecordStore store = RecordStore.open(files, options(), () -> {});
      isOpen = true;
      for (int i = 0; i < COMMITS && script != Script.OPEN; i++) {
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

  /**
   * Makes a store with leftovers of writers that were killed.
   *
   * @param isClosed whether its last writer closed it, or was killed
   */
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
    for (String leftover : LEFTOVERS) {
      files.create(leftover).close();
    }
    return files;
  }

  /** A writer of a meeting: where it is stopped, and whether it dies there. */
  private record Part(Script script, int stop, boolean isKilled) {}

  /**
   * How writers meet. Each comes when the one before is stopped or has ended.
   *
   * @param isReversed whether the last goes on first when all have come, or the first
   */
  private record Meeting(
      List<Part> parts, boolean isClosedBefore, boolean isReversed, Habits habits) {
    static Meeting of(Part one, Part two, boolean isClosedBefore, Habits habits) {
      return new Meeting(List.of(one, two), isClosedBefore, false, habits);
    }
  }

  /** The result of a meeting: what is wrong, and what became of the writers. */
  private record Outcome(@Nullable String problem, List<Writer> writers) {
    /** Tells whether a writer came to its stop. */
    boolean isStopped(int writer) {
      return !writers.get(writer).stops.isOver();
    }

    boolean isReplaced() {
      return writers.get(0).failure instanceof WriterReplacedException;
    }
  }

  private Outcome run(Meeting meeting) throws Exception {
    PowerLossFiles files = store(meeting.isClosedBefore);
    List<Writer> writers = new ArrayList<>();
    List<Future<?>> runs = new ArrayList<>();
    for (Part part : meeting.parts) {
      Writer writer = new Writer(files, part.stop, 1_000L * (runs.size() + 1), meeting.habits);
      writer.isAlone = writers.stream().allMatch(before -> before.isOpen || before.stops.isOver());
      writers.add(writer);
      runs.add(threads.submit(() -> writer.run(part.script)));
      writer.stops.isStopped.acquireUninterruptibly();
    }
    for (int i = 0; i < runs.size(); i++) {
      int next = meeting.isReversed ? runs.size() - 1 - i : i;
      Writer writer = writers.get(next);
      writer.isDead = meeting.parts.get(next).isKilled && !writer.stops.isOver();
      if (!writer.isDead) {
        writer.stops.goesOn.release();
        runs.get(next).get();
      }
    }
    String problem;
    try {
      Script last = meeting.parts.get(runs.size() - 1).script;
      problem = problem(files, writers, last);
    } catch (ZRecordException e) {
      problem = e.toString();
    }
    // The threads of the dead end, and with them the memory of their files.
    writers.stream().filter(writer -> writer.isDead).forEach(writer -> writer.stops.kill());
    return new Outcome(problem, writers);
  }

  private static @Nullable String problem(
      PowerLossFiles files, List<Writer> writers, Script lastScript) {
    Writer last = writers.get(writers.size() - 1);
    // Of two rebalances at once, each may find files of the other.
    if (last.isAlone && last.failure != null && lastScript != Script.REBALANCE) {
      return "the last writer failed: " + last.failure;
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
      boolean isAcknowledged = false;
      for (Writer writer : writers) {
        for (long id : writer.acknowledged) {
          if (found.getOrDefault(id, 0) != 1) {
            return id + " was acknowledged and is there " + found.getOrDefault(id, 0) + " times";
          }
          isAcknowledged = true;
        }
      }
      boolean isLastOne = last.isAlone && !last.acknowledged.isEmpty();
      long value = zero;
      boolean isRight = isLastOne
          ? last.mayHaveLeft(zero)
          : zero == 0 || writers.stream().anyMatch(writer -> writer.mayHaveLeft(value));
      return isRight && (zero != 0 || !isAcknowledged) ? null : "record 0 is " + zero;
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
        Meeting meeting = Meeting.of(
            new Part(one, stop, false),
            new Part(two, stopTwo, random.nextBoolean()),
            random.nextBoolean(),
            Habits.GOOD);
        Outcome outcome = run(meeting);
        assertThat(outcome.problem()).as("%s", meeting).isNull();
        isStopped |= outcome.isStopped(0);
        last = outcome.isStopped(1) || i == 0 ? last + 10 : Math.max(20, stopTwo);
        replaced += outcome.isReplaced() ? 1 : 0;
        orders++;
      }
    }
    System.out.printf("%s, %s: %d orders, the first replaced in %d%n", one, two, orders, replaced);
    assertThat(replaced).isPositive();
  }

  @ParameterizedTest
  @EnumSource(Script.class)
  void whatIsAcknowledgedIsThereWhereverTwoOfThreeAreStopped(Script one) throws Exception {
    Random random = Budget.random();
    int orders = 0;
    int secondStops = 0;
    boolean isStopped = true;
    for (int stop = 0; isStopped; stop += 1 + random.nextInt(STRIDE)) {
      isStopped = false;
      for (int i = 0; i <= STOPS; i++) {
        Part second = new Part(any(random), random.nextInt(STEPS), random.nextBoolean());
        Part third =
            new Part(any(random), random.nextBoolean() ? NEVER : random.nextInt(STEPS), false);
        Meeting meeting = new Meeting(
            List.of(new Part(one, stop, false), second, third),
            random.nextBoolean(),
            random.nextBoolean(),
            Habits.GOOD);
        Outcome outcome = run(meeting);
        assertThat(outcome.problem()).as("%s", meeting).isNull();
        isStopped |= outcome.isStopped(0);
        secondStops += outcome.isStopped(1) ? 1 : 0;
        orders++;
      }
    }
    System.out.printf("%s: %d orders of three, %d second stopped%n", one, orders, secondStops);
    assertThat(secondStops).isPositive();
  }

  private static Script any(Random random) {
    return Script.values()[random.nextInt(Script.values().length)];
  }

  /**
   * Stops the first writer when it has looked for its token, and is about to delete a leftover. The
   * second deletes the leftovers and dies before any of its steps. The third takes their names.
   */
  private int lostByDeletions(Habits habits) throws Exception {
    int lost = 0;
    int orders = 0;
    for (boolean isClosedBefore : new boolean[] {true, false}) {
      List<Integer> deletions = run(Meeting.of(
              new Part(Script.COMMIT, NEVER, false),
              new Part(Script.OPEN, NEVER, false),
              isClosedBefore,
              Habits.GOOD))
          .writers()
          .get(0)
          .stops
          .deletions;
      assertThat(deletions).hasSizeGreaterThanOrEqualTo(LEFTOVERS.size());
      boolean isSecondStopped = true;
      for (int stop = 0; isSecondStopped; stop++) {
        Meeting meeting = new Meeting(
            List.of(
                new Part(Script.COMMIT, deletions.get(0), false),
                new Part(Script.COMMIT, stop, true),
                new Part(Script.COMMIT, NEVER, false)),
            isClosedBefore,
            false,
            habits);
        Outcome outcome = run(meeting);
        isSecondStopped = outcome.isStopped(1);
        if (habits == Habits.GOOD) {
          assertThat(outcome.problem()).as("%s", meeting).isNull();
        }
        lost += outcome.problem() == null ? 0 : 1;
        orders++;
      }
    }
    System.out.printf("%s: %d of %d deletions lost something%n", habits, lost, orders);
    return lost;
  }

  @Test
  void aWriterDeletesNothingWhenAnotherHasComeAfterItLooked() throws Exception {
    assertThat(lostByDeletions(Habits.GOOD)).isZero();
  }

  @Test
  void writersThatDeleteWhatTheyListedLoseTheFilesOfAThird() throws Exception {
    assertThat(lostByDeletions(Habits.DELETES_LATE)).isPositive();
  }

  /**
   * Lets the first writer write to its journal late, after the second has come, and lets the second
   * die before each of its steps.
   */
  private int lostByDeaths(Habits habits, int stride) throws Exception {
    int lost = 0;
    int orders = 0;
    for (boolean isClosedBefore : new boolean[] {true, false}) {
      List<Integer> writes = run(Meeting.of(
              new Part(Script.COMMIT, NEVER, false),
              new Part(Script.COMMIT, NEVER, false),
              isClosedBefore,
              Habits.GOOD))
          .writers()
          .get(0)
          .stops
          .journalWrites;
      int late = writes.get(writes.size() - 1);
      boolean isSecondStopped = true;
      for (int stop = 0; isSecondStopped; stop += stride) {
        Meeting meeting = Meeting.of(
            new Part(Script.COMMIT, late, false),
            new Part(Script.COMMIT, stop, true),
            isClosedBefore,
            habits);
        Outcome outcome = run(meeting);
        isSecondStopped = outcome.isStopped(1);
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
        Outcome outcome = run(Meeting.of(
            new Part(one, stop, false),
            new Part(Script.COMMIT, NEVER, false),
            true,
            Habits.NEVER_LOOKS));
        isStopped = outcome.isStopped(0);
        lost += outcome.problem() == null ? 0 : 1;
        orders++;
      }
    }
    System.out.printf("Without looking: %d of %d orders lost something%n", lost, orders);
    assertThat(lost).isPositive();
  }
}
