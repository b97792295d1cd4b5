package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A change of records in two shards that ends at each call of its storage: killed, refused by the
 * storage once, or refused from then on, each followed by a power loss or not. What was
 * acknowledged is there, and what was not is there whole or not at all.
 */
final class RowPowerLossTest {
  /** How a change ended for its caller. */
  private enum End {
    ACKNOWLEDGED,
    REFUSED,
    UNKNOWN
  }

  /** Does not force what is asked for. */
  private static final class Forgetful extends ForwardingStorage {
    Forgetful(Storage target) {
      super(target);
    }

    @Override
    public void forceDirectory(String directory) {}
  }

  /** Returns a table of the values from 1 on in two shards, all of it durable. */
  private static MemoryStorage table(int firstShard, int secondShard) {
    MemoryStorage memory = new MemoryStorage();
    long[] values = LongStream.rangeClosed(1, firstShard + secondShard).toArray();
    RecordTable.at(memory)
        .commit(Shards.append(
            OptionalLong.empty(),
            shard(memory, Arrays.copyOf(values, firstShard)),
            shard(memory, Arrays.copyOfRange(values, firstShard, values.length))));
    return memory;
  }

  private static MemoryStorage table() {
    return table(3, 2);
  }

  /** Returns such a table whose first shard has a patch with as many chunks as a patch may have. */
  private static MemoryStorage patchedTable() {
    MemoryStorage memory = table(3 + PatchRef.MOST_CHUNKS, 2);
    for (int i = 3; i < 3 + PatchRef.MOST_CHUNKS; i++) {
      RowChange change = RowChange.of(RecordTable.at(memory).latest());
      change.update(i, "value", bytes(1 + i));
      change.commit();
    }
    assertThat(RecordTable.at(memory).latest().shards().get(0).patch()).isNotNull();
    return memory;
  }

  /** Returns such a table whose records a rebalance has put into another shard. */
  private static MemoryStorage rebalancedTable() {
    MemoryStorage memory = table();
    RebalancePlan plan = RebalancePlan.of(
        RecordTable.at(memory).latest(),
        RebalanceOptions.defaults()
            .withAllShards()
            .withShardBytes(1 << 20, 1 << 20)
            .withWrite(WriteOptions.defaults().withDurability(Durability.COMMIT)));
    assertThat(TableRebalance.of(plan).run().groups()).isEqualTo(1);
    return memory;
  }

  private static ShardSummary shard(Storage storage, long... values) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.COMMIT);
    try (ShardWriter writer =
        ShardWriter.create(storage, UUID.randomUUID(), Shards.SCHEMA, options)) {
      for (long value : values) {
        writer.putLong(0, value);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static byte[] bytes(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private static List<Long> values(Storage storage) {
    List<Long> values = new ArrayList<>();
    TableSnapshot latest = RecordTable.at(storage).latest();
    try (RecordDataset dataset = RecordDataset.open(latest, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      int length = (int) latest.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  private static End change(Storage storage) {
    try {
      RecordTable table = RecordTable.at(storage);
      TableSnapshot newest = table.latest();
      // A change that was planned before the rebalance is carried over it.
      TableSnapshot base =
          newest.operation().equals("rebalance") ? table.version(newest.version() - 1) : newest;
      RowChange change = RowChange.of(base);
      change.delete(1);
      change.update(2, "value", bytes(30));
      change.update(base.length() - 1, "value", bytes(40));
      change.commit();
      return End.ACKNOWLEDGED;
    } catch (CommitOutcomeUnknownException | MortalStorage.KilledError e) {
      return End.UNKNOWN;
    } catch (ZRecordException e) {
      return End.REFUSED;
    }
  }

  /** Adds what is wrong with what an end of a change has left, power lost or not. */
  private static void check(
      List<Long> before, MemoryStorage memory, End end, Set<String> problems) {
    problem(before, memory.elsewhere(), end)
        .ifPresent(problem -> problems.add("at once: " + problem));
    for (Set<String> returning : subsets(memory.pendingDeletions())) {
      problem(before, memory.afterPowerLoss(returning), end)
          .ifPresent(problem -> problems.add("after power loss: " + problem));
    }
  }

  private static Optional<String> problem(List<Long> before, Storage left, End end) {
    List<Long> after = new ArrayList<>(before);
    after.set(before.size() - 1, 40L);
    after.set(2, 30L);
    after.remove(1);
    try {
      List<Long> values = values(left);
      boolean isRight = (end != End.REFUSED && values.equals(after))
          || (end != End.ACKNOWLEDGED && values.equals(before));
      return isRight ? Optional.empty() : Optional.of(end + " and " + values);
    } catch (ZRecordException e) {
      return Optional.of(end + " and " + e.getClass().getSimpleName());
    }
  }

  private static List<Set<String>> subsets(Set<String> names) {
    List<Set<String>> subsets = new ArrayList<>(List.of(Set.of(), names));
    for (String name : names) {
      subsets.add(Set.of(name));
    }
    return subsets;
  }

  /**
   * Kills the change before its calls, and not at all.
   *
   * @param chosen chooses from the number of calls
   */
  private static Set<String> killed(
      MemoryStorage table, UnaryOperator<Storage> seen, LongFunction<long[]> chosen) {
    List<Long> before = values(table.afterPowerLoss());
    Set<String> problems = new HashSet<>();
    MemoryStorage whole = table.afterPowerLoss();
    MortalStorage immortal = new MortalStorage(whole, Integer.MAX_VALUE);
    assertThat(change(seen.apply(immortal.storage()))).isEqualTo(End.ACKNOWLEDGED);
    check(before, whole, End.ACKNOWLEDGED, problems);
    assertThat(immortal.calls()).isGreaterThan(10);
    for (long call : chosen.apply(immortal.calls())) {
      MemoryStorage memory = table.afterPowerLoss();
      End end = change(seen.apply(new MortalStorage(memory, (int) call).storage()));
      check(before, memory, end, problems);
    }
    return problems;
  }

  private static Set<String> killed(MemoryStorage table) {
    return killed(table, storage -> storage, Cases::before);
  }

  /** Lets calls that change something fail, from each of them on. */
  private static Set<String> refused(MemoryStorage table, int failing) {
    List<Long> before = values(table.afterPowerLoss());
    Set<String> problems = new HashSet<>();
    MemoryStorage whole = table.afterPowerLoss();
    change(whole);
    for (long call : Cases.before(whole.log().size())) {
      MemoryStorage memory = table.afterPowerLoss().failingFrom((int) call, failing);
      End end = change(memory);
      check(before, memory, end, problems);
    }
    return problems;
  }

  @Test
  void whoIsKilledHasChangedAllOrNothing() {
    assertThat(killed(table())).isEmpty();
  }

  @Test
  void aChangeThatGivesAFieldTablesOfItsOwnIsAllOrNothing() {
    MemoryStorage table = patchedTable();
    MemoryStorage changed = table.afterPowerLoss();
    assertThat(change(changed)).isEqualTo(End.ACKNOWLEDGED);
    assertThat(RecordTable.at(changed).latest().shards().get(0).tables())
        .doesNotContainAnyElementsOf(
            RecordTable.at(table).latest().shards().get(0).tables());
    assertThat(killed(table)).isEmpty();
    assertThat(refused(table, 1)).isEmpty();
    assertThat(refused(table, Integer.MAX_VALUE)).isEmpty();
  }

  @Test
  void aChangeThatFollowsItsRecordsOverARebalanceIsAllOrNothing() {
    MemoryStorage table = rebalancedTable();
    MemoryStorage changed = table.afterPowerLoss();
    assertThat(change(changed)).isEqualTo(End.ACKNOWLEDGED);
    ShardSummary shard = RecordTable.at(changed).latest().shards().get(0);
    assertThat(shard.chunks()).anyMatch(chunk -> chunk.owner() != null);
    assertThat(killed(table)).isEmpty();
    assertThat(refused(table, 1)).isEmpty();
    assertThat(refused(table, Integer.MAX_VALUE)).isEmpty();
  }

  @Test
  void aStorageThatRefusesACallHasChangedAllOrNothing() {
    assertThat(refused(table(), 1)).isEmpty();
    assertThat(refused(table(), Integer.MAX_VALUE)).isEmpty();
  }

  /** Control: without forced names, an acknowledged change is lost with its patches. */
  @Test
  void withoutForcesAnAcknowledgedChangeIsLost() {
    assertThat(
            killed(table(), Forgetful::new, calls -> LongStream.range(0, calls).toArray()))
        .contains("after power loss: ACKNOWLEDGED and MissingFileException");
  }
}
