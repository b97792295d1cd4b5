package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.VersionHint;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/**
 * Two appends beside a reader, in every order of their calls. The slower one of two publishers may
 * leave a hint that is behind: nobody reads a version older than one that was acknowledged before.
 */
final class HintRaceTest {
  private static final class World implements Interleavings.World {
    final MemoryStorage storage = Simulation.storage();
    private final ShardSummary first = Shards.write(storage, Shards.SCHEMA, 1);
    private final ShardSummary second = Shards.write(storage, Shards.SCHEMA, 2);
    private long acknowledged;
    private boolean isReadLate;

    World() {
      RecordTable.at(storage)
          .commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 0)));
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public void check() {
      assertThat(RecordTable.at(storage).latest().length())
          .as("%s", storage.log())
          .isEqualTo(3);
    }
  }

  private static void append(World world, Storage storage, ShardSummary shard) {
    TableSnapshot published =
        RecordTable.at(storage).commit(Shards.append(OptionalLong.of(0), shard));
    world.acknowledged = Math.max(world.acknowledged, published.version());
  }

  private static void read(World world, Storage storage) {
    // Begins with a call, so that there are orders in which it comes after the others.
    storage.exists(ManifestNames.HINT);
    long acknowledged = world.acknowledged;
    world.isReadLate = acknowledged > 0;
    assertThat(new ManifestLog(storage).newest().orElseThrow().version())
        .as("%s", world.storage.log())
        .isGreaterThanOrEqualTo(acknowledged);
  }

  /** Trusts the hint, as nobody must. */
  private static void readTheHint(World world, Storage storage) {
    storage.exists(ManifestNames.HINT);
    long acknowledged = world.acknowledged;
    assertThat(VersionHint.read(storage).orElseThrow().version())
        .as("by the hint")
        .isGreaterThanOrEqualTo(acknowledged);
  }

  private static List<Work<World>> twoAppendsAnd(Work<World> reader) {
    return List.of(
        (world, storage) -> append(world, storage, world.first),
        (world, storage) -> append(world, storage, world.second),
        reader);
  }

  @Test
  void nobodyReadsAVersionBeforeAnAcknowledgedOne() throws Exception {
    List<World> worlds = new ArrayList<>();
    Supplier<World> next = () -> {
      worlds.add(new World());
      return worlds.get(worlds.size() - 1);
    };
    BooleanSupplier isShown = () -> worlds.stream().anyMatch(world -> world.isReadLate);
    Interleavings.some(204, next, twoAppendsAnd(HintRaceTest::read), isShown);
    assertThat(isShown.getAsBoolean()).as("a reader after an acknowledged version").isTrue();
  }

  /** The control: the hint alone may be behind. */
  @Test
  void theHintAloneMayBeBehind() {
    assertThatThrownBy(
            () -> Interleavings.all(World::new, twoAppendsAnd(HintRaceTest::readTheHint)))
        .hasStackTraceContaining("by the hint");
  }
}
