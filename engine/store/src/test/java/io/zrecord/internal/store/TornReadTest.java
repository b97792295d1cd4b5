package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.store.read.LiveFieldReader;
import io.zrecord.internal.store.read.StoreView;
import io.zrecord.internal.store.write.StoreLimits;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * One thread gives records new values, the same in both fields, moves and deletes them; another
 * reads both fields. Validated reads never see one field of one change and the other of another;
 * plain reads do.
 */
class TornReadTest {
  private static final int READS = Budget.of(10_000_000);
  private static final int PLAIN_READS = 250_000;

  /** A machine that does one thing at a time tears few reads. */
  private static final int MOST_ROUNDS_OF_PLAIN_READS = 1200;

  private static final int RECORDS = 1024;
  private static final int BATCH = 256;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("a", ElementType.I64)
      .field("b", ElementType.I64)
      .build();

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  /** How the entries of a batch are looked up. */
  private interface Select {
    void select(long[] indices, LiveFieldReader a, LiveFieldReader b);
  }

  @Test
  void validatedReadsAreNeverTornAndPlainOnesAre() throws Exception {
    StoreLimits limits =
        new StoreLimits(false, Long.MAX_VALUE, 1L << 40, 1, Long.MAX_VALUE, Duration.ofMinutes(1));
    try (StoreWriter core = StoreRecovery.create(
        new LocalMutableFiles(directory.resolve("store")), UUID.randomUUID(), SCHEMA, limits)) {
      for (long i = 0; i < RECORDS; i++) {
        core.append(pair(i));
      }
      core.commit();
      AtomicBoolean isDone = new AtomicBoolean();
      long[] changes = {0};
      Thread writer = new Thread(() -> changes[0] = change(core, isDone));
      writer.start();
      try {
        StoreView view = new StoreView(core.parts(), Verification.NEVER, new ReadMetrics(), 0);
        long torn = tornReads(
            view, READS, (indices, a, b) -> view.select(indices, 0, BATCH, List.of(a, b)));
        Select plain = (indices, a, b) -> {
          a.begin(BATCH);
          b.begin(BATCH);
          a.load(core.parts().tables().get(0), indices, 0, BATCH, 0);
          b.load(core.parts().tables().get(1), indices, 0, BATCH, 0);
          a.end(indices, 0, BATCH);
          b.end(indices, 0, BATCH);
        };
        long tornPlain = 0;
        for (int round = 0; tornPlain == 0 && round < MOST_ROUNDS_OF_PLAIN_READS; round++) {
          tornPlain = tornReads(view, PLAIN_READS, plain);
        }
        System.out.printf("%d validated reads, %d torn; %d plain ones%n", READS, torn, tornPlain);
        assertThat(torn).isZero();
        assertThat(tornPlain).isPositive();
      } finally {
        isDone.set(true);
        writer.join();
      }
      assertThat(changes[0]).isPositive();
    }
  }

  /** Swaps, replaces, deletes and appends, a few at a time, until told to stop. */
  private static long change(StoreWriter core, AtomicBoolean isDone) {
    Random random = Budget.random();
    boolean[] both = {true, true};
    long count = RECORDS;
    while (!isDone.get()) {
      for (int i = 0; i < 8; i++) {
        core.update(random.nextInt(RECORDS / 2), pair(count++), both);
      }
      if (random.nextInt(16) == 0) {
        core.delete(random.nextInt(RECORDS / 2));
        core.append(pair(count++));
      }
      core.commit();
    }
    return count - RECORDS;
  }

  private static byte[][] pair(long value) {
    byte[] bytes = ByteBuffer.allocate(Long.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(value)
        .array();
    return new byte[][] {bytes, bytes};
  }

  private static long tornReads(StoreView view, long reads, Select select) {
    LiveFieldReader a = view.takeReader(0);
    LiveFieldReader b = view.takeReader(1);
    Random random = new Random(Budget.seed() + 1);
    long[] indices = new long[BATCH];
    byte[] valuesOfA = new byte[BATCH * Long.BYTES];
    byte[] valuesOfB = new byte[BATCH * Long.BYTES];
    long torn = 0;
    for (long done = 0; done < reads; done += BATCH) {
      for (int i = 0; i < BATCH; i++) {
        indices[i] = random.nextInt(RECORDS / 2);
      }
      select.select(indices, a, b);
      a.copyAll(valuesOfA, 0);
      b.copyAll(valuesOfB, 0);
      if (!Arrays.equals(valuesOfA, valuesOfB)) {
        torn++;
      }
    }
    return torn;
  }
}
