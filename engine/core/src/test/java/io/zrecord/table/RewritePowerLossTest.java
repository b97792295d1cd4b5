package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
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
import java.util.HashSet;
import java.util.List;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/**
 * A field of two shards with patches is rewritten, and the writer ends at each call of its storage:
 * killed, refused once, or refused from then on, each followed by a power loss or not. The version
 * before is whole, and what was acknowledged is there.
 */
final class RewritePowerLossTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("value", ElementType.I64)
      .field("other", ElementType.I64)
      .build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.COMMIT);

  /** The values of both fields in each record that is left, one after the other. */
  private static final List<Long> BEFORE = List.of(10L, -1L, 2L, -20L, 4L, -4L, 50L, -5L);

  private static final List<Long> AFTER = List.of(100L, -1L, 101L, -20L, 102L, -4L, 103L, -5L);

  /** How the writer ended for its caller. */
  private enum End {
    ACKNOWLEDGED,
    REFUSED,
    UNKNOWN
  }

  /** Does not force names that are asked for. */
  private static final class Forgetful extends ForwardingStorage {
    Forgetful(Storage target) {
      super(target);
    }

    @Override
    public void forceDirectory(String directory) {}
  }

  /** Returns a table with patches of both shards: with what is left of a rewriting, and without. */
  private static MemoryStorage table() {
    MemoryStorage memory = new MemoryStorage();
    RecordTable table = RecordTable.at(memory);
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(List.of(shard(memory, 1, 2, 3), shard(memory, 4, 5)))
        .build());
    RowChange change = RowChange.of(table.latest());
    change.update(0, "value", 10L);
    change.update(1, "other", -20L);
    change.delete(2);
    change.update(4, "value", 50L);
    change.commit();
    assertThat(values(memory, OptionalLong.empty())).isEqualTo(BEFORE);
    return memory;
  }

  private static ShardSummary shard(Storage storage, long... values) {
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, OPTIONS)) {
      for (long value : values) {
        writer.putLong(0, value);
        writer.putLong(1, -value);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  /** Reads the newest version, or another one. */
  private static List<Long> values(Storage storage, OptionalLong version) {
    RecordTable table = RecordTable.at(storage);
    TableSnapshot snapshot =
        version.isPresent() ? table.version(version.getAsLong()) : table.latest();
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      int length = (int) snapshot.length();
      List<FieldReader> readers = List.of(dataset.reader("value"), dataset.reader("other"));
      readers.forEach(reader -> reader.select(LongStream.range(0, length).toArray(), 0, length));
      for (int i = 0; i < length; i++) {
        for (FieldReader reader : readers) {
          values.add(
              ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
        }
      }
    }
    return values;
  }

  private static End rewrite(Storage storage) {
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.rewrite(RecordTable.at(storage), Set.of("value"), OPTIONS)) {
      long value = 100;
      for (int shard = 0; shard < 2; shard++) {
        RecordAppender values = writer.newAppender(shard);
        for (int i = 0; i < writer.base().shards().get(shard).length(); i++) {
          values.set("value", value++).endRecord();
        }
        writer.finish(shard);
      }
      writer.commit();
      return End.ACKNOWLEDGED;
    } catch (CommitOutcomeUnknownException | MortalStorage.KilledError e) {
      return End.UNKNOWN;
    } catch (ZRecordException e) {
      return End.REFUSED;
    }
  }

  /** Adds what is wrong with what an end has left, power lost or not. */
  private static void check(MemoryStorage memory, End end, Set<String> problems) {
    addProblem("at once", memory.elsewhere(), end, problems);
    List<Set<String>> returning = new ArrayList<>(List.of(Set.of(), memory.pendingDeletions()));
    memory.pendingDeletions().forEach(name -> returning.add(Set.of(name)));
    returning.forEach(
        names -> addProblem("after power loss", memory.afterPowerLoss(names), end, problems));
  }

  private static void addProblem(String when, Storage left, End end, Set<String> problems) {
    try {
      List<Long> newest = values(left, OptionalLong.empty());
      boolean isRight = (end != End.REFUSED && newest.equals(AFTER))
          || (end != End.ACKNOWLEDGED && newest.equals(BEFORE));
      if (!isRight || !values(left, OptionalLong.of(1)).equals(BEFORE)) {
        problems.add(when + ": " + end + " and " + newest);
      }
    } catch (ZRecordException e) {
      problems.add(when + ": " + end + " and " + e.getClass().getSimpleName());
    }
  }

  /**
   * Kills the writer before its calls, and not at all.
   *
   * @param chosen chooses from the number of calls
   */
  private static Set<String> killed(UnaryOperator<Storage> seen, LongFunction<long[]> chosen) {
    MemoryStorage table = table();
    Set<String> problems = new HashSet<>();
    MemoryStorage whole = table.afterPowerLoss();
    MortalStorage immortal = new MortalStorage(whole, Integer.MAX_VALUE);
    assertThat(rewrite(seen.apply(immortal.storage()))).isEqualTo(End.ACKNOWLEDGED);
    check(whole, End.ACKNOWLEDGED, problems);
    assertThat(immortal.calls()).isGreaterThan(20);
    for (long call : chosen.apply(immortal.calls())) {
      MemoryStorage memory = table.afterPowerLoss();
      End end = rewrite(seen.apply(new MortalStorage(memory, (int) call).storage()));
      check(memory, end, problems);
    }
    return problems;
  }

  /** Lets calls that change something fail, from each of them on. */
  private static Set<String> refused(int failing) {
    MemoryStorage table = table();
    Set<String> problems = new HashSet<>();
    MemoryStorage whole = table.afterPowerLoss();
    rewrite(whole);
    for (long call : Cases.before(whole.log().size())) {
      MemoryStorage memory = table.afterPowerLoss().failingFrom((int) call, failing);
      check(memory, rewrite(memory), problems);
    }
    return problems;
  }

  @Test
  void whoIsKilledHasRewrittenAllOrNothing() {
    assertThat(killed(storage -> storage, Cases::before)).isEmpty();
  }

  @Test
  void aStorageThatRefusesACallHasRewrittenAllOrNothing() {
    assertThat(refused(1)).isEmpty();
    assertThat(refused(Integer.MAX_VALUE)).isEmpty();
  }

  /** Control: without forced names, an acknowledged rewriting is lost with its files. */
  @Test
  void withoutForcesAnAcknowledgedRewritingIsLost() {
    assertThat(killed(Forgetful::new, calls -> LongStream.range(0, calls).toArray()))
        .contains("after power loss: ACKNOWLEDGED and MissingFileException");
  }
}
