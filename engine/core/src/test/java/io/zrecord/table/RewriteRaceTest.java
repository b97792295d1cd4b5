package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A field of a shard with a patch is rewritten at once with a change of records, another rewriting,
 * an append, a rebalance, an expiry and a sweep, in every order of their calls: whoever succeeds
 * keeps what all others did, and whoever is refused leaves no file.
 *
 * <p>A rewriting adds 1,000 to the values of the first shard, a change of records 10,000 to one
 * value, so that the order does not matter.
 */
final class RewriteRaceTest {
  private static final Instant NOW = Instant.parse("2026-01-02T00:00:00Z");
  private static final Instant OLD = NOW.minus(Duration.ofHours(9));
  private static final InstantSource CLOCK = InstantSource.fixed(NOW);
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
  private static final int REWRITTEN = 1000;
  private static final int UPDATED = 10_000;

  /** A table with the values 1 to 5 in two shards, of which the first has a patch. */
  private static final class World implements Interleavings.World {
    private Instant fileTime = OLD;
    final MemoryStorage storage = new MemoryStorage(() -> fileTime);
    final List<Long> expected = new ArrayList<>(List.of(1L, 2L, 3L, 4L, 5L));
    int rewritten;
    int succeeded;
    int refused;
    boolean isSwept;

    World() {
      RecordTable table = RecordTable.at(storage, InstantSource.fixed(OLD));
      table.commit(Shards.append(
          OptionalLong.empty(),
          Shards.write(storage, Shards.SCHEMA, 9, 7, 2, 3),
          Shards.write(storage, Shards.SCHEMA, 4, 5)));
      RowChange change = RowChange.of(table.latest());
      change.delete(0);
      change.update(1, "value", 1L);
      change.commit(table);
      fileTime = NOW;
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public Storage seen(Storage ordered) {
      return new WithoutHint(ordered);
    }

    @Override
    public void check() {
      RecordTable table = RecordTable.at(storage, CLOCK);
      assertThat(values(table.latest())).as("%s", storage.log()).isEqualTo(expected);
      NamedFiles named = new NamedFiles(storage);
      named.refresh();
      Set<String> found = storage.names().stream()
          .filter(name -> name.startsWith("shard/") && name.contains("."))
          .collect(Collectors.toSet());
      Set<String> needed = found.stream()
          .filter(name -> named
              .filesOf(UUID.fromString(name.split("/", -1)[1]))
              .contains(name.split("/", -1)[2]))
          .collect(Collectors.toSet());
      if (!isSwept) {
        // Whoever was refused has deleted what it wrote.
        assertThat(found).isEqualTo(needed);
      }
    }
  }

  private static List<Long> values(TableSnapshot snapshot) {
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      int length = (int) snapshot.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  /** Adds to the values of the records of the first three numbers. */
  private static Work<World> rewrite() {
    return (world, storage) -> {
      RecordTable table = RecordTable.at(storage, CLOCK);
      try (RecordFieldsWriter writer =
          RecordFieldsWriter.rewrite(table, Set.of("value"), OPTIONS)) {
        List<Long> values = values(writer.base());
        RecordAppender appender = writer.newAppender(0);
        ShardSummary first = writer.base().shards().get(0);
        for (int i = 0; i < first.length(); i++) {
          long value = values.get(i);
          appender
              .set("value", value % REWRITTEN <= 3 ? value + REWRITTEN : value)
              .endRecord();
        }
        writer.commit();
        world.rewritten++;
        world.succeeded++;
        world.expected.replaceAll(
            value -> value % REWRITTEN <= 3 ? Long.valueOf(value + REWRITTEN) : value);
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  /** Deletes the record of a number, and adds to the value of another. */
  private static Work<World> change(long deleted, long updated) {
    return (world, storage) -> {
      TableSnapshot base = RecordTable.at(storage, CLOCK).latest();
      List<Long> values = values(base);
      RowChange change = RowChange.of(base);
      for (int i = 0; i < values.size(); i++) {
        if (values.get(i) % REWRITTEN == deleted) {
          change.delete(i);
        } else if (values.get(i) % REWRITTEN == updated) {
          change.update(i, "value", values.get(i) + UPDATED);
        }
      }
      try {
        change.commit(RecordTable.at(storage, CLOCK));
        world.succeeded++;
        world.expected.removeIf(value -> value % REWRITTEN == deleted);
        world.expected.replaceAll(
            value -> value % REWRITTEN == updated ? Long.valueOf(value + UPDATED) : value);
      } catch (CommitConflictException e) {
        world.refused++;
      }
    };
  }

  private static List<World> run(List<Work<World>> work) throws Exception {
    return Interleavings.ended(World::new, work);
  }

  @Test
  void ofARewritingAndAChangeOfItsShardOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds = run(List.of(rewrite(), change(1, 2)));
    assertThat(worlds).allMatch(world -> world.succeeded + world.refused == 2);
    assertThat(worlds).allMatch(world -> world.succeeded >= 1);
    assertThat(worlds)
        .anyMatch(world -> world.refused == 1 && world.rewritten == 0)
        .anyMatch(world -> world.refused == 1 && world.rewritten == 1)
        .anyMatch(world -> world.succeeded == 2);
  }

  @Test
  void aRewritingAndAChangeOfAnotherShardBothSucceed() throws Exception {
    assertThat(run(List.of(rewrite(), change(4, 5)))).allMatch(world -> world.succeeded == 2);
  }

  @Test
  void ofTwoRewritingsOfAShardOneIsRefusedUnlessItComesLater() throws Exception {
    List<World> worlds = run(List.of(rewrite(), rewrite()));
    assertThat(worlds).allMatch(world -> world.succeeded >= 1);
    assertThat(worlds)
        .anyMatch(world -> world.refused == 1)
        .anyMatch(world -> world.succeeded == 2);
  }

  @Test
  void aRewritingAndAnAppendBothSucceed() throws Exception {
    assertThat(run(List.of(rewrite(), (world, storage) -> {
          RecordTable table = RecordTable.at(storage, CLOCK);
          table.commit(Shards.append(
              OptionalLong.of(table.latest().version()), Shards.write(storage, Shards.SCHEMA, 6)));
          world.expected.add(6L);
        })))
        .allMatch(world -> world.rewritten == 1);
  }

  @Test
  void ofARewritingAndARebalanceOneIsRefusedUnlessItComesLater() throws Exception {
    RebalanceOptions all = RebalanceOptions.defaults().withAllShards().withWrite(OPTIONS);
    List<World> worlds = run(List.of(rewrite(), (world, storage) -> {
      RebalancePlan plan = RebalancePlan.of(RecordTable.at(storage, CLOCK).latest(), all);
      RebalanceResult result = TableRebalance.of(plan).threads(1).run();
      world.refused += result.failures().size();
    }));
    assertThat(worlds).anyMatch(world -> world.refused >= 1).anyMatch(world -> world.refused == 0);
  }

  @Test
  void anExpiryAndASweepLeaveWhatARewritingNeeds() throws Exception {
    SweepOptions sweep =
        SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);
    List<World> worlds = run(List.of(rewrite(), (world, storage) -> {
      world.isSwept = true;
      RecordTable table = RecordTable.at(storage, CLOCK);
      table.expire(ExpireOptions.defaults().withOlderThan(Duration.ofHours(1)));
      table.sweep(sweep, orphan -> {});
    }));
    assertThat(worlds).allMatch(world -> world.rewritten == 1);
  }
}
