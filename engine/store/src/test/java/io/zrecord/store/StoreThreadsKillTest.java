package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.errors.ZRecordException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Several threads append and commit on their own while chunks of a few records are closed and begun
 * all the time, and the process is halted at a random moment, over and over on one store. Every
 * record whose commit had returned is there, as it was.
 */
class StoreThreadsKillTest {
  private static final int KILLS = Math.max(4, Budget.of(20));
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.BYTES).build();
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withChunkRecords(3).withCheckpointBytes(1 << 14);

  /** So that it does not come to have more chunks than a process may map. */
  private static final int KILLS_OF_A_STORE = 10;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void whatEachThreadWasToldIsThereAfterEveryKill() throws Exception {
    Random random = Budget.random();
    Set<Long> acknowledged = new HashSet<>();
    long count = 0;
    for (int kill = 0; kill < KILLS; kill++) {
      Path path = directory.resolve("store-" + kill / KILLS_OF_A_STORE);
      if (kill % KILLS_OF_A_STORE == 0) {
        acknowledged.clear();
        RecordStore.create(path, SCHEMA, OPTIONS).close();
      }
      JavaProcess.Result result = JavaProcess.of(Writer.class)
          .option("-Xmx128m")
          .option("-XX:TieredStopAtLevel=1")
          // Before or after its first commits, however busy the machine is.
          .run(path.toString(), "" + kill, "" + kill % 2 * 20, "" + random.nextInt(250));
      assertThat(result.exitCode()).as(result.output()).isZero();
      List<Long> keys = result
          .output()
          .lines()
          .filter(line -> line.matches("[0-9]+"))
          .map(Long::parseLong)
          .toList();
      acknowledged.addAll(keys);
      count += keys.size();
      assertThat(differenceFrom(path, acknowledged)).as("kill %d", kill).isNull();
    }
    System.out.printf("%d kills of threads: %d records acknowledged, 0 lost%n", KILLS, count);
    assertThat(count).isPositive();
  }

  private static @Nullable String differenceFrom(Path path, Set<Long> acknowledged) {
    Set<Long> missing = new HashSet<>(acknowledged);
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      long[] indices = new long[(int) store.length()];
      Arrays.setAll(indices, i -> i);
      try (Batch batch = store.gather(indices)) {
        for (int i = 0; i < indices.length; i++) {
          byte[] value = batch.bytes("value", i);
          long key = ByteBuffer.wrap(value).getLong();
          if (!Arrays.equals(value, value(key))) {
            return "another value at " + i;
          }
          missing.remove(key);
        }
      }
    } catch (ZRecordException e) {
      return e.toString();
    }
    return missing.isEmpty() ? null : missing.size() + " records are missing";
  }

  private static byte[] value(long key) {
    Random random = new Random(key);
    byte[] value = new byte[Long.BYTES + random.nextInt(300)];
    random.nextBytes(value);
    ByteBuffer.wrap(value).putLong(key);
    return value;
  }

  /** Says the key of every record whose commit has returned. */
  static final class Writer {
    private static final int THREADS = 4;
    private static final int MOST_GROUP = 4;
    private static final Semaphore COMMITS = new Semaphore(0);

    private Writer() {}

    public static void main(String[] arguments) throws InterruptedException {
      RecordStore store = RecordStore.open(Path.of(arguments[0]), OPTIONS);
      for (int t = 0; t < THREADS; t++) {
        long first = Long.parseLong(arguments[1]) << 40 | (long) t << 32;
        Thread thread = new Thread(() -> append(store, first));
        thread.setDaemon(true);
        thread.start();
      }
      boolean isDue = COMMITS.tryAcquire(Integer.parseInt(arguments[2]), 5, TimeUnit.MINUTES);
      TimeUnit.MILLISECONDS.sleep(Long.parseLong(arguments[3]));
      Runtime.getRuntime().halt(isDue ? 0 : 1);
    }

    private static void append(RecordStore store, long first) {
      Random random = new Random(first);
      RecordValues record = store.newValues();
      for (long key = first; key >= 0; ) {
        StringBuilder keys = new StringBuilder();
        for (int i = random.nextInt(MOST_GROUP); i >= 0; i--) {
          store.append(record.set("value", value(key)));
          keys.append(key++).append('\n');
        }
        store.commit();
        System.out.print(keys);
        System.out.flush();
        COMMITS.release();
      }
    }
  }
}
