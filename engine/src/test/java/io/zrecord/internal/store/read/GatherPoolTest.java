package io.zrecord.internal.store.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.store.EntryTable;
import io.zrecord.internal.store.write.StoreLimits;
import io.zrecord.internal.store.write.StoreRecovery;
import io.zrecord.internal.store.write.StoreWriter;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Helpers do each piece once, hand on what fails, and put values where the caller would. */
class GatherPoolTest {
  private static final int PIECES = 200;
  private static final int RECORDS = 100;

  @TempDir
  Path directory;

  @Test
  void everyPieceIsDoneOnceAlsoWithoutThreadsOrByAClosedPool() {
    for (int threads : new int[] {0, 1, 8}) {
      GatherPool pool = new GatherPool(threads);
      for (int round = 0; round < 50; round++) {
        AtomicIntegerArray done = new AtomicIntegerArray(PIECES);
        pool.run(PIECES, done::incrementAndGet);
        for (int piece = 0; piece < PIECES; piece++) {
          assertThat(done.get(piece)).isOne();
        }
        if (round == 25) {
          pool.close();
        }
      }
    }
  }

  @Test
  void aPieceThatFailsFailsItsCallAndNoOther() {
    try (GatherPool pool = new GatherPool(4)) {
      for (int round = 0; round < 50; round++) {
        assertThatThrownBy(() -> pool.run(PIECES, piece -> {
              if (piece == PIECES / 2) {
                throw new StackOverflowError("provoked");
              }
            }))
            .isInstanceOf(StackOverflowError.class);
        pool.run(PIECES, piece -> {});
      }
    }
  }

  /** What helpers do: read the files instead of the maps. */
  @Test
  void helpersReadWhatMapsShow() {
    RecordSchema schema =
        RecordSchema.builder().field("value", ElementType.BYTES).build();
    StoreLimits limits =
        new StoreLimits(false, 10, 1L << 20, 1, Long.MAX_VALUE, Duration.ofMinutes(1));
    Random random = Budget.random();
    byte[][] values = new byte[RECORDS][];
    try (StoreWriter core = StoreRecovery.create(
        new LocalMutableFiles(directory.resolve("store")), UUID.randomUUID(), schema, limits)) {
      for (int i = 0; i < RECORDS; i++) {
        values[i] = new byte[random.nextInt(3_000)];
        random.nextBytes(values[i]);
        core.append(new byte[][] {values[i]});
      }
      core.commit();
      SharedValues shared = new SharedValues(core.parts(), Verification.ALWAYS, new ReadMetrics());
      long[] indices = random.longs(RECORDS, 0, RECORDS).toArray();
      LiveSlots slots = new LiveSlots();
      slots.begin(RECORDS);
      EntryTable table = core.parts().tables().get(0);
      table.load(indices, 0, RECORDS, slots.word0, slots.word1, 0);
      int total = 0;
      for (int k = 0; k < RECORDS; k++) {
        slots.index[k] = indices[k];
        slots.checksum[k] = table.checksum(indices[k]);
        slots.isDue[k] = true;
        total += values[(int) indices[k]].length;
      }
      LiveValues helper = new LiveValues(shared, 0, true);
      assertThat(helper.resolve(slots, 0, RECORDS)).isEqualTo(RECORDS);
      ByteBuffer found = ByteBuffer.allocateDirect(total);
      assertThat(helper.copyAll(slots, 0, RECORDS, found, 0)).isEqualTo(RECORDS);
      for (long index : indices) {
        byte[] value = new byte[values[(int) index].length];
        found.get(value);
        assertThat(value).isEqualTo(values[(int) index]);
      }
    }
  }
}
