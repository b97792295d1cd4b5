package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * A sweep beside those who move a manifest or a tag, in every order of their calls: it keeps the
 * files of that version.
 */
final class SweepRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  /** A table of two versions that share nothing. */
  private static final class World implements Interleavings.World {
    private Instant fileTime = NOW.minus(Duration.ofHours(9));
    final MemoryStorage storage = new MemoryStorage(() -> fileTime);
    final RecordTable table = RecordTable.at(storage, CLOCK);
    private final Set<String> wanted;
    int swept;

    World(long wantedVersion) {
      Instant first = NOW.minus(Duration.ofHours(9));
      RecordTable.at(storage, InstantSource.fixed(first))
          .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2)));
      RecordTable.at(storage, InstantSource.fixed(first.plus(Duration.ofHours(3))))
          .commit(Shards.overwrite(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 4)));
      String shard = table.version(wantedVersion).shards().get(0).directory();
      wanted = storage.names().stream()
          .filter(name -> name.startsWith(shard + "/"))
          .collect(Collectors.toSet());
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public void check() {
      assertThat(storage.names()).as("%s", storage.log()).containsAll(wanted);
    }
  }

  private static void sweep(World world, Storage storage) {
    try {
      RecordTable.at(storage, CLOCK).sweep(SWEEP, orphan -> {});
      world.swept++;
    } catch (StorageException e) {
      assertThat(e).hasMessageContaining("Cannot tell what");
    } catch (CorruptDataException e) {
      assertThat(e).hasMessageContaining(ManifestNames.nameOf(1));
    }
  }

  /** Makes a world in which only the copy of a tag is left of the manifest of version 0. */
  private static World withExpiredTag() {
    World world = new World(0);
    world.table.tag(0, "first");
    world.table.expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
    assertThat(world.storage.names()).doesNotContain(ManifestNames.nameOf(0));
    world.fileTime = NOW;
    return world;
  }

  private static void exchangeTheTag(World world, Storage storage) {
    RecordTable table = RecordTable.at(storage, CLOCK);
    table.tag(0, "second");
    table.untag("first");
  }

  @Test
  void aVersionWhoseTagIsExchangedForAnotherMeanwhileIsWhole() throws Exception {
    List<World> worlds = new ArrayList<>();
    require(Interleavings.run(
        () -> {
          worlds.add(withExpiredTag());
          return worlds.get(worlds.size() - 1);
        },
        List.<Work<World>>of(SweepRaceTest::sweep, SweepRaceTest::exchangeTheTag)));
    for (World world : worlds) {
      assertThat(world.table.tags()).extracting(Tag::name).containsExactly("second");
      assertThat(world.table.tagged("second").length()).isEqualTo(2);
    }
    assertThat(worlds).anyMatch(world -> world.swept > 0);
  }

  private static World withDamagedManifest() {
    World world = new World(1);
    world.storage.overwrite(ManifestNames.nameOf(1), "damaged".getBytes(StandardCharsets.UTF_8));
    return world;
  }

  /** Sets a manifest aside as a repair does: first it has both names. */
  private static void moveAside(World world, Storage storage) {
    String name = ManifestNames.nameOf(1);
    storage.publish(name + ".damaged", storage.read(name, SealedJson.MAX_BYTES));
    storage.delete(name);
  }

  @Test
  void aDamagedVersionThatIsMovedAsideMeanwhileKeepsItsFiles() throws Exception {
    require(Interleavings.run(
        SweepRaceTest::withDamagedManifest,
        List.<Work<World>>of(
            (world, storage) -> {
              sweep(world, storage);
              assertThat(world.swept).as("%s", world.storage.log()).isZero();
            },
            SweepRaceTest::moveAside)));
  }

  /** Its files are older than the limit, and it commits between two deletions. */
  @Test
  void aWriteThatTookTooLongKeepsItsFilesOnceItIsCommitted() {
    World world = new World(1);
    Map<String, ShardSummary> written = new HashMap<>();
    for (int i = 0; i < 5; i++) {
      ShardSummary shard = Shards.write(world.storage, Shards.SCHEMA, i);
      written.put(shard.directory(), shard);
    }
    List<String> deleted = new ArrayList<>();
    SweepResult result = world.table.sweep(SWEEP, orphan -> {
      deleted.add(orphan.name());
      if (written.remove(orphan.name()) != null && written.size() == 4) {
        world.table.commit(
            Shards.append(OptionalLong.of(1), written.values().toArray(ShardSummary[]::new)));
      }
    });
    assertThat(result.fileCount()).isPositive();
    assertThat(deleted).as("deleted before the commit, and nothing after it").hasSize(1);
    assertThat(world.storage.names())
        .containsAll(world.table.latest().shards().stream()
            .map(shard -> shard.directory() + "/" + shard.tables().get(0).fileName())
            .toList());
    assertThat(world.table.latest().length()).isEqualTo(1 + 4);
  }

  private static void require(int orders) {
    assertThat(orders).isGreaterThan(5);
  }
}
