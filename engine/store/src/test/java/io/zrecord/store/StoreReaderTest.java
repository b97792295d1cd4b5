package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.errors.StoreAbandonedException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Readers beside a writer of this process, and of others that are killed. */
class StoreReaderTest {
  private static final int KILLS = Math.max(2, Budget.of(8));
  private static final int MOST_BATCHES = 3_000;
  private static final int RECORDS = 3_000;
  private static final int BATCH = 100;
  private static final RecordSchema PAIR = RecordSchema.builder()
      .field("number", ElementType.UTF8)
      .field("again", ElementType.UTF8)
      .build();
  private static final StoreOptions OPTIONS =
      StoreOptions.defaults().withChunkBytes(1 << 20).withCheckpointBytes(1 << 19);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  @Test
  void aReaderFollowsWhatIsCommitted() {
    Path path = directory.resolve("store");
    StoreModel model = new StoreModel(Budget.seed(), 20_000);
    try (RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, StoreOptions.defaults());
        StoreReader reader = StoreReader.open(path)) {
      for (int round = 0; round < 10; round++) {
        for (int i = Math.max(200, Budget.of(2_000)); i > 0; i--) {
          model.next(store);
        }
        store.commit();
        assertThat(model.differenceFrom(reader)).isNull();
        if (round % 3 == 0) {
          store.checkpoint();
        }
      }
      assertThat(reader.schema()).isEqualTo(StoreModel.SCHEMA);
    }
    try (StoreReader reader = StoreReader.open(path);
        StoreReader another = StoreReader.open(path);
        RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      model.next(store);
      store.commit();
      assertThat(model.differenceFrom(reader)).isNull();
      assertThat(model.differenceFrom(another)).isNull();
      assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
          .isInstanceOf(StoreLockedException.class);
    }
  }

  @Test
  void aReaderOutlivesWritersThatAreKilled() throws Exception {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, PAIR, OPTIONS)) {
      for (int i = 0; i < RECORDS; i++) {
        store.append(store.newValues().set("number", "0").set("again", "0"));
      }
    }
    Random random = Budget.random();
    long reads = 0;
    try (StoreReader reader = StoreReader.open(path)) {
      for (int kill = 0; kill < KILLS; kill++) {
        Process writer =
            JavaProcess.of(Writer.class).small().start(path.toString(), Integer.toString(kill));
        // It says when it is open, and when it has committed for the first time.
        for (int said = 0; said <= kill % 2; said++) {
          assertThat(writer.getInputStream().read()).isNotEqualTo(-1);
        }
        for (int batches = random.nextInt(MOST_BATCHES); batches >= 0; batches--) {
          reads += requirePairs(reader, random);
        }
        writer.destroyForcibly().waitFor();
        requireRecoverable(path);
      }
      RecordStore.open(path, OPTIONS).close();
      reads += requirePairs(reader, random);
    }
    System.out.printf("%d kills beside a reader: %d records read%n", KILLS, reads);
  }

  /**
   * Requires that snapshots, which replay the journal, read what a killed writer left; a reader
   * waits for the next writer.
   */
  private static void requireRecoverable(Path path) {
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      assertThat(dataset.length()).isEqualTo(RECORDS);
    }
    try (StoreReader opened = StoreReader.open(path)) {
      assertThat(opened.length()).isEqualTo(RECORDS);
    } catch (StoreAbandonedException e) {
      assertThat(e).hasMessageContaining("open it for writing");
    }
  }

  private static int requirePairs(StoreReader reader, Random random) {
    assertThat(reader.length()).isEqualTo(RECORDS);
    long[] indices = random.longs(BATCH, 0, RECORDS).toArray();
    try (Batch batch = reader.gather(indices)) {
      for (int i = 0; i < BATCH; i++) {
        assertThat(batch.bytes("number", i)).isEqualTo(batch.bytes("again", i));
      }
    }
    return BATCH;
  }

  /** Changes, deletes and appends for ever; the number of records is the same after each commit. */
  static final class Writer {
    private Writer() {}

    public static void main(String[] arguments) {
      try (RecordStore store = RecordStore.open(Path.of(arguments[0]), OPTIONS)) {
        say('o');
        Random random = new Random(Budget.seed() + Long.parseLong(arguments[1]));
        RecordValues values = store.newValues();
        boolean hasCommitted = false;
        while (store.length() > 0) {
          for (int i = 0; i < 50; i++) {
            byte[] number = Long.toString(random.nextLong()).getBytes(StandardCharsets.UTF_8);
            values.set("number", number).set("again", number.clone());
            if (i % 10 == 0) {
              store.delete(random.nextInt(RECORDS));
              store.append(values);
            } else {
              store.update(random.nextInt(RECORDS), values);
            }
          }
          store.commit();
          if (!hasCommitted) {
            say('c');
          }
          hasCommitted = true;
        }
      }
    }

    private static void say(char what) {
      System.out.print(what);
      System.out.flush();
    }
  }
}
