package io.zrecord.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.UnmappedStorage;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OpenShardsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("text", ElementType.UTF8).build();
  private static final FieldSpec TEXT = SCHEMA.fields().get(0);

  @TempDir
  Path directory;

  private Storage storage;
  private final List<ShardSummary> summaries = new ArrayList<>();
  private final Queue<Runnable> timers = new ArrayDeque<>();
  private long now = -5;

  @BeforeEach
  void write() {
    storage = LocalStorage.at(directory);
    for (int i = 0; i < 10; i++) {
      try (ShardWriter writer = ShardWriter.create(
          storage,
          UUID.randomUUID(),
          SCHEMA,
          WriteOptions.defaults().withDurability(Durability.NONE))) {
        writer.put(0, new byte[] {(byte) i}, 0, 1);
        writer.endRecord();
        summaries.add(writer.finish().orElseThrow());
      }
    }
  }

  @Test
  void aShardOpenedAgainIsTheSame() {
    OpenShards shards = open(100);
    ShardUse use = shards.use();
    assertThat(use.get(storage, summaries.get(0))).isSameAs(use.get(storage, summaries.get(0)));
    assertThat(shards.use().get(storage, summaries.get(0)))
        .isSameAs(use.get(storage, summaries.get(0)));
    assertThat(use.get(storage, summaries.get(0))).isNotSameAs(use.get(storage, summaries.get(1)));
    OpenShard before = use.get(storage, summaries.get(0));
    shards.clear();
    assertThat(use.get(storage, summaries.get(0))).isNotSameAs(before);
  }

  @Test
  void mapsStayWithinTheBudgetAndAllIsStillRead() {
    // Each shard needs two maps: a tables file and a chunk.
    OpenShards shards = open(5);
    ShardUse use = shards.use();
    List<Supplier<OpenShard>> opening = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      ShardSummary shard = summaries.get(i);
      opening.add(() -> use.get(storage, shard));
    }
    ShardList list = new ShardList(new long[] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, opening);
    FieldReader reader = new ShardedFieldReader(TEXT, list, Verification.FIRST, new ReadMetrics());
    for (int round = 0; round < 3; round++) {
      reader.select(new long[] {9, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 0, 10);
      byte[] all = new byte[10];
      reader.copyAll(all, 0);
      assertThat(all).containsExactly(9, 0, 1, 2, 3, 4, 5, 6, 7, 8);
      assertThat(shards.mapCount()).isLessThanOrEqualTo(5);
      assertThat(new ShardedFieldReader(TEXT, list, Verification.FIRST, new ReadMetrics())
              .selectRange(0, 10, 1 << 20))
          .isEqualTo(10);
      assertThat(shards.mapCount()).isBetween(1, 5);
    }
  }

  /** Tables of files that are not mapped take memory. */
  @Test
  void memoryForTablesStaysWithinTheBoundAndAllIsStillRead() {
    Storage remote = new UnmappedStorage(storage, 1 << 20);
    long tablesBytes = summaries.get(0).tables().get(0).bytes();
    OpenShards shards = open(1000, 4 * tablesBytes);
    ShardUse use = shards.use();
    for (int round = 0; round < 2; round++) {
      for (int i = 0; i < 10; i++) {
        ShardSummary shard = summaries.get(i);
        ShardList list = new ShardList(new long[] {1}, List.of(() -> use.get(remote, shard)));
        FieldReader reader =
            new ShardedFieldReader(TEXT, list, Verification.FIRST, new ReadMetrics());
        reader.select(new long[] {0}, 0, 1);
        byte[] value = new byte[1];
        reader.copyAll(value, 0);
        assertThat(value).containsExactly(i);
        assertThat(shards.heapBytes()).isBetween(1L, 4 * tablesBytes);
      }
    }
    assertThat(shards.mapCount()).isZero();
    shards.clear();
    assertThat(shards.heapBytes()).isZero();
  }

  /** Such as one with other credentials. */
  @Test
  void anotherStorageOfTheSamePlaceSharesNothing() {
    OpenShards shards = open(100);
    ShardUse use = shards.use();
    OpenShard opened = use.get(new UnmappedStorage(storage, 1 << 20), summaries.get(0));
    assertThat(use.get(new UnmappedStorage(storage, 1 << 20), summaries.get(0)))
        .isNotSameAs(opened);
    assertThat(use.get(storage, summaries.get(0))).isNotSameAs(opened);
    assertThat(use.get(LocalStorage.at(directory), summaries.get(0)))
        .isSameAs(use.get(storage, summaries.get(0)));
  }

  @Test
  void aShardIsKeptWhileSomebodyHasItOpenAndForAWhileAfterwards() {
    OpenShards shards = open(100);
    ShardUse first = shards.use();
    ShardUse second = shards.use();
    OpenShard shard = first.get(storage, summaries.get(0));
    second.get(storage, summaries.get(0));
    second.get(storage, summaries.get(1));
    first.close();
    first.close();
    now += 10 * OpenShards.IDLE_NANOS;
    assertThat(shards.use().get(storage, summaries.get(2))).isNotNull();
    assertThat(second.get(storage, summaries.get(0))).isSameAs(shard);
    assertThat(timers).isEmpty();

    second.close();
    now += OpenShards.IDLE_NANOS - 1;
    ShardUse third = shards.use();
    assertThat(third.get(storage, summaries.get(0))).isSameAs(shard);
    assertThat(shards.shardCount()).isEqualTo(3);
    now += 1;
    assertThat(third.get(storage, summaries.get(2))).isNotNull();
    assertThat(shards.shardCount()).as("all but the second, whose time is over").isEqualTo(2);
    assertThat(third.get(storage, summaries.get(0))).isSameAs(shard);
  }

  @Test
  void theTimerLetsGoOfShardsThatNobodyAsksForAgain() {
    OpenShards shards = open(100);
    try (ShardUse use = shards.use()) {
      read(use, 0);
      read(use, 1);
      assertThat(shards.mapCount()).isEqualTo(4);
    }
    now += OpenShards.IDLE_NANOS / 2;
    try (ShardUse use = shards.use()) {
      read(use, 2);
    }
    runTimer();
    assertThat(shards.shardCount()).as("it came too early").isEqualTo(3);
    now += OpenShards.IDLE_NANOS / 2;
    runTimer();
    assertThat(shards.shardCount()).isEqualTo(1);
    assertThat(shards.mapCount()).isEqualTo(2);
    now += OpenShards.IDLE_NANOS;
    runTimer();
    assertThat(shards.shardCount()).isZero();
    assertThat(shards.mapCount()).isZero();
    assertThat(timers).as("nothing is left to wait for").isEmpty();
  }

  @Test
  void whoGoesOnReadingAfterTheEndOfHisUseKeepsNothingForLong() {
    OpenShards shards = open(100);
    ShardUse use = shards.use();
    use.close();
    read(use, 0);
    assertThat(shards.shardCount()).isEqualTo(1);
    now += OpenShards.IDLE_NANOS;
    runTimer();
    assertThat(shards.shardCount()).isZero();
  }

  @Test
  void aShardDroppedByTheBudgetAndOpenedAgainIsCountedOnce() {
    OpenShards shards = open(3);
    ShardUse use = shards.use();
    for (int round = 0; round < 3; round++) {
      read(use, 0);
      read(use, 1);
    }
    assertThat(shards.shardCount()).isEqualTo(1);
    use.close();
    now += OpenShards.IDLE_NANOS;
    runTimer();
    assertThat(shards.shardCount()).isZero();
  }

  @Test
  void whatNobodyHasOpenCanBeDroppedAtOnce() {
    OpenShards shards = open(100);
    ShardUse kept = shards.use();
    kept.get(storage, summaries.get(0));
    try (ShardUse use = shards.use()) {
      use.get(storage, summaries.get(0));
      use.get(storage, summaries.get(1));
    }
    shards.dropUnused();
    assertThat(shards.shardCount()).isEqualTo(1);
    kept.close();
    shards.dropUnused();
    assertThat(shards.shardCount()).isZero();
  }

  /** A manifest may say something else of a shard that another version has open. */
  @Test
  void aShardOfWhichAnotherLengthIsSaidIsNotTheSame() {
    ShardSummary shard = summaries.get(0);
    ShardSummary longer = new ShardSummary(
        shard.id(), shard.length() + 1, shard.chunks(), shard.tables(), shard.valueBytes());
    ShardUse use = open(100).use();
    assertThat(use.get(storage, shard).field(TEXT)).isNotNull();
    assertThatThrownBy(() -> use.get(storage, longer).field(TEXT))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("with 2");
    assertThat(use.get(storage, shard).field(TEXT)).isNotNull();
  }

  @Test
  void aFieldOfWhichAnotherTypeIsSaidIsRefusedThoughItIsOpen() {
    FieldSpec number =
        RecordSchema.builder().field("text", ElementType.I32).build().fields().get(0);
    ShardUse use = open(100).use();
    OpenShard shard = use.get(storage, summaries.get(0));
    assertThat(shard.field(TEXT)).isSameAs(shard.field(TEXT));
    assertThatThrownBy(() -> shard.field(number))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("but the dataset says");
    assertThat(shard.field(TEXT)).isNotNull();
  }

  private OpenShards open(int budget) {
    return open(budget, Long.MAX_VALUE);
  }

  private OpenShards open(int maxMaps, long maxHeapBytes) {
    return new OpenShards(maxMaps, maxHeapBytes, () -> now, (nanos, task) -> timers.add(task));
  }

  private void runTimer() {
    timers.remove().run();
  }

  private void read(ShardUse use, int shard) {
    ShardList list =
        new ShardList(new long[] {1}, List.of(() -> use.get(storage, summaries.get(shard))));
    FieldReader reader = new ShardedFieldReader(TEXT, list, Verification.FIRST, new ReadMetrics());
    reader.select(new long[] {0}, 0, 1);
    byte[] value = new byte[1];
    reader.copyAll(value, 0);
    assertThat(value).containsExactly(shard);
  }
}
