package io.zrecord.changes;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.ChangeBase;
import io.zrecord.table.MergeChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.ShardChangeWriter;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.ForwardingStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What versions changed is asked of a storage by requests side by side. */
final class ChangeRequestsTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("kind", ElementType.UTF8)
      .build();
  private static final List<Integer> PARTITIONS = List.of(2);
  private static final WriteOptions WRITE =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final int SHARDS = 4;

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  /** Answers no request for a file of a kind before others of the kind have come. */
  private static final class Together extends ForwardingStorage {
    private final String suffix;
    private final CountDownLatch expected;
    private final List<String> opened = new ArrayList<>();

    Together(Storage storage, String suffix, int expected) {
      super(storage);
      this.suffix = suffix;
      this.expected = new CountDownLatch(expected);
    }

    @Override
    public int requestsAtOnce() {
      return 16;
    }

    @Override
    public ReadableFile open(String name) {
      if (name.endsWith(suffix)) {
        synchronized (opened) {
          opened.add(name);
        }
        expected.countDown();
        try {
          assertThat(expected.await(60, TimeUnit.SECONDS))
              .as("others are opened meanwhile")
              .isTrue();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
      }
      return super.open(name);
    }
  }

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(shard("a", i));
    }
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(shards)
        .build()
        .partitionedBy(PARTITIONS));
  }

  private ShardWriter writer(String kind) {
    return ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, WRITE, PARTITIONS, List.of(kind));
  }

  private static void put(ShardWriter writer, long number, String kind) {
    writer.putLong(0, number);
    writer.put(1, kind.getBytes(UTF_8), 0, kind.length());
    writer.endRecord();
  }

  private ShardSummary shard(String kind, int ordinal) {
    try (ShardWriter writer = writer(kind)) {
      for (int i = 0; i < 10; i++) {
        put(writer, 10L * ordinal + i, kind);
      }
      return writer.finish().orElseThrow();
    }
  }

  /** Moves the first record of each shard to a shard of its own. */
  private void move() {
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base);
    List<ShardSummary> added = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      ShardSummary shard = base.shards().get(i);
      try (ShardChangeWriter changes =
              ShardChangeWriter.open(storage, ChangeBase.of(base), shard, Set.of());
          ShardWriter target = writer("c" + i)) {
        changes.delete(0);
        target.movedFrom(shard.id(), changes.slotOf(0));
        put(target, 10L * i, "c" + i);
        merge.change(changes.finish());
        added.add(target.finish().orElseThrow());
      }
    }
    merge.adding(added).commit();
  }

  @Test
  void theShardsThatRecordsWereMovedToAreAskedSideBySide() {
    move();
    Together together = new Together(storage, ".tables", SHARDS);
    RecordMoves moves = TableChanges.of(together).of(1).moves(together);
    assertThat(moves.count()).isEqualTo(SHARDS);
    assertThat(together.opened).hasSize(SHARDS);
  }

  @Test
  void theShardsThatAVersionChangedAreAskedSideBySide() {
    move();
    VersionChanges version = TableChanges.of(storage).of(1);
    Together together = new Together(storage, ".patch", SHARDS);
    List<RecordChanges> records = version.read(together);
    assertThat(records)
        .isEqualTo(version.shards().stream().map(shard -> shard.read(storage)).toList());
    assertThat(records.stream().mapToLong(shard -> shard.deleted().count()).sum())
        .isEqualTo(SHARDS);
  }

  @Test
  void aMergeThatOnlyInsertsMovesNothingAndIsNotAsked() {
    MergeChange merge = MergeChange.of(table.latest());
    merge.adding(List.of(shard("d", SHARDS))).commit();
    Together together = new Together(storage, ".tables", 2);
    assertThat(TableChanges.of(together).of(1).moves(together).count()).isZero();
    assertThat(together.opened).isEmpty();
  }
}
