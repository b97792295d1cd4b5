package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.ObjectStorage;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Sweeps on a store of objects: by the server's times of objects, and with few requests. */
final class ObjectSweepTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  private Instant serverTime = NOW;
  private final ObjectStorage objects = new ObjectStorage(() -> serverTime);
  private final List<String> swept = new ArrayList<>();

  private SweepResult sweep(Storage storage, InstantSource clientClock) {
    return RecordTable.at(storage, clientClock).sweep(SWEEP, orphan -> swept.add(orphan.name()));
  }

  private SweepResult sweep() {
    return sweep(objects, () -> serverTime);
  }

  private ShardSummary shard(long value) {
    return Shards.write(objects, Shards.SCHEMA, value);
  }

  private void commit(ShardSummary... shards) {
    RecordTable table = RecordTable.at(objects, () -> serverTime);
    table.commit(Shards.append(Shards.newest(table), shards));
  }

  private String strayFileOf(ShardSummary shard) {
    String name = shard.directory() + "/" + UUID.randomUUID() + ".zr";
    try (var file = objects.create(name)) {
      file.write(ByteBuffer.wrap(new byte[] {1}));
      file.finish();
    }
    return name;
  }

  @Test
  void oldObjectsAreSweptThoughTheirDirectoriesAreAsOldAsTheRequest() {
    ShardSummary named = shard(1);
    commit(named);
    ShardSummary orphan = shard(2);
    String stray = strayFileOf(named);
    serverTime = NOW.plus(Duration.ofHours(2));
    String young = strayFileOf(named);
    ShardSummary beingWritten = shard(3);
    SweepResult result = sweep();
    assertThat(swept).containsExactlyInAnyOrder(orphan.directory(), stray);
    assertThat(result.fileCount()).isEqualTo(3);
    assertThat(objects.names())
        .contains(young)
        .doesNotContain(stray)
        .noneMatch(name -> name.startsWith(orphan.directory()));
    assertThat(objects.list(beingWritten.directory())).hasSize(2);
    assertThat(RecordTable.at(objects).latest().length()).isOne();
  }

  /** A shard of which a slow task has just written another file is kept whole. */
  @Test
  void anOldObjectBesideAYoungOneOfTheSameShardIsKept() {
    commit(shard(1));
    ShardSummary slow = shard(2);
    serverTime = NOW.plus(Duration.ofHours(2));
    strayFileOf(slow);
    sweep();
    assertThat(swept).isEmpty();
    assertThat(objects.list(slow.directory())).hasSize(3);
  }

  /** The client is ten minutes, or two days, before or after the server. */
  @Test
  void theServersClockDecidesWhatIsOldEnough() {
    commit(shard(1));
    ShardSummary old = shard(2);
    serverTime = NOW.plus(Duration.ofHours(2));
    ShardSummary young = shard(3);
    for (Duration offset : new Duration[] {
      Duration.ofMinutes(-10), Duration.ofMinutes(10), Duration.ofDays(-2), Duration.ofDays(2)
    }) {
      sweep(objects, InstantSource.offset(() -> serverTime, offset));
    }
    assertThat(swept).containsExactly(old.directory());
    assertThat(objects.list(young.directory())).hasSize(2);
  }

  /** The control: a store that dates objects by clocks of clients lets a young object be swept. */
  @Test
  void withTheTimesOfClientsAYoungObjectIsSwept() {
    commit(shard(1));
    ShardSummary young = shard(3);
    Storage datedByClients = new ForwardingStorage(objects) {
      @Override
      public List<StoredFile> listTree(String directory) {
        return storage.listTree(directory).stream().map(this::dated).toList();
      }

      /** Returns a file as a client dated it whose clock is behind. */
      private StoredFile dated(StoredFile file) {
        return new StoredFile(
            file.name(),
            false,
            file.lengthBytes(),
            file.modifiedMillis() - Duration.ofHours(3).toMillis());
      }
    };
    sweep(datedByClients, () -> serverTime);
    assertThat(swept).containsExactly(young.directory());
  }

  @Test
  void aLateListLosesNothing() {
    ShardSummary first = shard(1);
    commit(first);
    ShardSummary orphan = shard(2);
    serverTime = NOW.plus(Duration.ofHours(2));
    commit(shard(3));
    sweep();
    assertThat(swept).containsExactly(orphan.directory());
    // The list shows the swept shard again, and misses the shard that was committed last.
    serverTime = NOW.plus(Duration.ofHours(4));
    commit(shard(4));
    serverTime = NOW.plus(Duration.ofHours(6));
    LongStream.range(0, 3).forEach(this::shard);
    RecordTable table = RecordTable.at(objects, () -> serverTime);
    try {
      sweep(objects.listingWithout(20), () -> serverTime);
    } catch (io.zrecord.errors.StorageException e) {
      assertThat(e).hasMessageContaining("Cannot tell the time");
    }
    objects.listingWithout(0);
    assertThat(table.latest().shards()).hasSize(3).allSatisfy(shard -> {
      assertThat(objects.list(shard.directory())).hasSize(2);
    });
  }

  @Test
  void aSweepOfAThousandShardsTakesFewRequests() {
    ShardSummary[] named =
        LongStream.range(0, 1000).mapToObj(this::shard).toArray(ShardSummary[]::new);
    RecordTable.at(objects, () -> serverTime).commit(Shards.append(OptionalLong.empty(), named));
    serverTime = NOW.plus(Duration.ofHours(2));
    objects.forgetRequests();
    sweep();
    assertThat(swept).isEmpty();
    assertThat(total()).as("nothing to sweep: %s", objects.requests()).isLessThanOrEqualTo(20);

    serverTime = NOW;
    LongStream.range(0, 1000).forEach(this::shard);
    serverTime = NOW.plus(Duration.ofHours(2));
    objects.forgetRequests();
    assertThat(sweep().fileCount()).isEqualTo(2000);
    assertThat(swept).hasSize(1000);
    // One request for each named shard: what its tables need of programs that delete.
    assertThat(total() - 1000).as("%s", objects.requests()).isLessThanOrEqualTo(60);
    assertThat(objects.requests())
        .hasEntrySatisfying("delete", count -> assertThat(count).isLessThanOrEqualTo(5));
  }

  private int total() {
    return objects.requests().values().stream().mapToInt(Integer::intValue).sum();
  }
}
