package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.BatchReleasedException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.StoreLockedException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class RecordStoreTest {
  private static final RecordSchema TEXTS =
      RecordSchema.builder().field("text", ElementType.UTF8).build();
  private static final StoreOptions SMALL =
      StoreOptions.defaults().withChunkBytes(64 << 10).withCheckpointBytes(256 << 10);

  @TempDir
  Path directory;

  private static RecordValues text(RecordStore store, String text) {
    return store.newValues().set("text", text);
  }

  private static String textAt(RecordStore store, long index) {
    try (Batch batch = store.gather(new long[] {index}, "text")) {
      return new String(batch.bytes("text", 0), StandardCharsets.UTF_8);
    }
  }

  @Test
  void recordsAreSeenWhenTheyAreCommittedAndAreThereAgain() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, TEXTS, SMALL)) {
      assertThat(store.append(text(store, "a"))).isZero();
      assertThat(store.append(List.of(text(store, "b"), text(store, "c")))).containsExactly(1, 2);
      assertThat(store.length()).isZero();
      assertThat(store.pendingLength()).isEqualTo(3);
      store.commit();
      assertThat(store.length()).isEqualTo(3);
      store.update(1, text(store, "B"));
      assertThat(textAt(store, 1)).isEqualTo("b");
      store.commit();
      assertThat(textAt(store, 1)).isEqualTo("B");
      assertThat(store.delete(0)).isEqualTo(new RecordStore.Moved(2, 0));
      store.append(text(store, "d"));
    }
    try (RecordStore store = RecordStore.open(path, SMALL)) {
      assertThat(store.length()).isEqualTo(3);
      assertThat(textAt(store, 0)).isEqualTo("c");
      assertThat(textAt(store, 1)).isEqualTo("B");
      assertThat(textAt(store, 2)).isEqualTo("d");
    }
  }

  @ParameterizedTest
  @EnumSource(StoreDurability.class)
  void randomOperationsAreThoseOfAList(StoreDurability durability) {
    long seed = Budget.seed();
    int operations =
        Math.max(100, Budget.of(durability == StoreDurability.EVERY_RECORD ? 1_000 : 50_000));
    StoreOptions options = SMALL.withDurability(durability);
    StoreModel model = new StoreModel(seed, 2_000);
    Random random = Budget.random();
    Path path = directory.resolve("store");
    RecordStore store = RecordStore.create(path, StoreModel.SCHEMA, options);
    try {
      while (model.operationCount() < operations) {
        model.next(store);
        if (random.nextInt(500) == 0) {
          store.commit();
        }
        if (random.nextInt(operations / 20) == 0) {
          store.commit();
          assertThat(model.differenceFrom(store)).as("seed %d", seed).isNull();
        }
        if (random.nextInt(operations / 20) == 0) {
          store.close();
          store = RecordStore.open(path, options);
        }
      }
      store.checkpoint();
      assertThat(model.differenceFrom(store)).as("seed %d", seed).isNull();
    } finally {
      store.close();
    }
  }

  @Test
  void threadsThatCommitAtOnceLoseNothing() throws Exception {
    Path path = directory.resolve("store");
    int threads = 8;
    long each = 500;
    List<List<Long>> indices = new ArrayList<>();
    try (RecordStore store =
        RecordStore.create(path, TEXTS, SMALL.withDurability(StoreDurability.EVERY_RECORD))) {
      ExecutorService pool = Executors.newFixedThreadPool(threads);
      List<Future<List<Long>>> running = new ArrayList<>();
      for (int t = 0; t < threads; t++) {
        int thread = t;
        running.add(pool.submit(() -> {
          List<Long> own = new ArrayList<>();
          for (int i = 0; i < each; i++) {
            long index = store.append(text(store, thread + ":" + i));
            assertThat(textAt(store, index)).isEqualTo(thread + ":" + i);
            own.add(index);
          }
          return own;
        }));
      }
      for (Future<List<Long>> one : running) {
        indices.add(one.get());
      }
      pool.shutdown();
    }
    try (RecordStore store = RecordStore.open(path, SMALL)) {
      assertThat(store.length()).isEqualTo(threads * each);
      for (int t = 0; t < threads; t++) {
        for (int i = 0; i < each; i++) {
          assertThat(textAt(store, indices.get(t).get(i))).isEqualTo(t + ":" + i);
        }
      }
    }
  }

  @Test
  void batchesKeepWhatTheyGotUntilTheyAreReleased() {
    RecordStore store = RecordStore.create(directory.resolve("store"), TEXTS, SMALL);
    store.append(text(store, "old"));
    store.commit();
    Batch batch = store.gather(new long[] {0, 0});
    ByteBuffer view = batch.value("text", 1);
    store.update(0, text(store, "new"));
    store.commit();
    assertThat(textAt(store, 0)).isEqualTo("new");
    store.close();
    assertThat(batch.bytes("text", 0)).asString(StandardCharsets.UTF_8).isEqualTo("old");
    batch.close();
    assertThat(StandardCharsets.UTF_8.decode(view).toString()).isEqualTo("old");
    assertThatThrownBy(() -> batch.bytes("text", 0)).isInstanceOf(BatchReleasedException.class);
  }

  @Test
  void oneWriterAtATime() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, TEXTS, SMALL)) {
      assertThat(store.length()).isZero();
      assertThatThrownBy(() -> RecordStore.open(path, SMALL))
          .isInstanceOf(StoreLockedException.class)
          .hasMessageContaining("this process has it open");
    }
    RecordStore.open(path, SMALL).close();
  }

  @Test
  void whatIsNotThereIsRefused() throws Exception {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, TEXTS, SMALL)) {
      store.append(text(store, "a"));
      store.commit();
      assertThatThrownBy(() -> store.gather(new long[] {0, 1}))
          .isInstanceOf(IndexOutOfBoundsException.class)
          .hasMessageContaining("no record 1");
      assertThatThrownBy(() -> store.delete(-1)).isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> store.update(1, text(store, "b")))
          .isInstanceOf(IndexOutOfBoundsException.class);
      assertThatThrownBy(() -> store.newValues().set("nothing", "x"))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the fields are text");
    }
    assertThatThrownBy(() -> RecordStore.create(path, TEXTS, SMALL))
        .isInstanceOf(DatasetExistsException.class);
    assertThatThrownBy(() -> RecordStore.open(directory.resolve("typo"), SMALL))
        .isInstanceOf(NotADatasetException.class);
    Files.createDirectories(directory.resolve("empty"));
  }
}
