package io.zrecord.storage;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Appends records of one number each to a table, and remembers what each append was told, so that
 * the table can be compared with the promises. Thread-safe.
 */
final class AppendLog {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  /** What the caller of an append was told. */
  enum Outcome {
    ACKNOWLEDGED,
    UNKNOWN,
    REFUSED
  }

  /**
   * An append that ended.
   *
   * @param told with the message of a failure
   */
  private record Append(Outcome outcome, String told) {}

  private final Map<Long, Append> appends = new ConcurrentHashMap<>();

  /**
   * Appends a number.
   *
   * @param situation for messages
   */
  Outcome append(Storage storage, long value, String situation) {
    Append append;
    Optional<ShardSummary> shard = Optional.empty();
    try {
      RecordTable table = RecordTable.at(storage);
      OptionalLong base =
          table.exists() ? OptionalLong.of(table.latest().version()) : OptionalLong.empty();
      shard = Optional.of(write(storage, value));
      table.commit(change(base, shard.get()));
      append = new Append(Outcome.ACKNOWLEDGED, situation);
    } catch (CommitOutcomeUnknownException e) {
      append = new Append(Outcome.UNKNOWN, situation + ": " + e.getMessage());
    } catch (ZRecordException e) {
      append = new Append(Outcome.REFUSED, situation + ": " + e.getMessage());
      shard.ifPresent(written -> delete(storage, written));
    }
    if (appends.put(value, append) != null) {
      throw new IllegalArgumentException("Value " + value + " was appended before");
    }
    return append.outcome();
  }

  /** Deletes what was not committed, as every writer does. */
  private static void delete(Storage storage, ShardSummary shard) {
    try {
      storage.delete(shard.directory());
    } catch (ZRecordException e) {
      // A sweep finds the rest.
    }
  }

  private static ShardSummary write(Storage storage, long value) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      writer.putLong(0, value);
      writer.endRecord();
      return writer.finish().orElseThrow();
    }
  }

  private static TableChange change(OptionalLong base, ShardSummary shard) {
    return TableChange.of(TableChange.Kind.APPEND, SCHEMA)
        .baseVersion(base)
        .shards(List.of(shard))
        .build();
  }

  /** Returns what appends were told that were not acknowledged. */
  List<String> failures() {
    return appends.values().stream()
        .filter(append -> append.outcome != Outcome.ACKNOWLEDGED)
        .map(Append::toString)
        .toList();
  }

  /** Returns how many appends were told so. */
  long count(Outcome outcome) {
    return appends.values().stream().filter(append -> append.outcome == outcome).count();
  }

  /** Returns what the table has that was not promised, or lacks. */
  List<String> problems(Storage healthy) {
    List<String> problems = new ArrayList<>();
    DatasetCheck.of(healthy).allVersions().run(finding -> {
      if (finding.kind().isDamage()) {
        problems.add(finding.toString());
      }
    });
    RecordTable table = RecordTable.at(healthy);
    addProblemsOfVersions(table, problems);
    Map<Long, Integer> there;
    try {
      there = values(table.latest());
    } catch (ZRecordException e) {
      problems.add("the newest version cannot be read: " + e.getMessage());
      return problems;
    }
    appends.forEach((value, append) -> {
      int times = there.getOrDefault(value, 0);
      boolean isPromised = switch (append.outcome) {
        case ACKNOWLEDGED -> times == 1;
        case UNKNOWN -> times <= 1;
        case REFUSED -> times == 0;
      };
      if (!isPromised) {
        problems.add("value " + value + ", " + append + ", is there " + times + " times");
      }
    });
    there.keySet().stream()
        .filter(value -> !appends.containsKey(value))
        .forEach(value -> problems.add("nobody appended " + value));
    return problems;
  }

  /** Each version must have the shards of the version before, and one more. */
  private static void addProblemsOfVersions(RecordTable table, List<String> problems) {
    List<Long> versions = table.versions();
    List<ShardSummary> previous = List.of();
    for (int i = 0; i < versions.size(); i++) {
      List<ShardSummary> shards = table.version(versions.get(i)).shards();
      if (versions.get(i) != i
          || shards.size() != previous.size() + 1
          || !shards.subList(0, previous.size()).equals(previous)) {
        problems.add("version " + versions.get(i) + ", number " + i + ", does not add one shard");
      }
      previous = shards;
    }
  }

  private static Map<Long, Integer> values(TableSnapshot snapshot) {
    Map<Long, Integer> found = new TreeMap<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("value");
      for (long index = 0; index < dataset.length(); ) {
        index += reader.selectRange(
            index, (int) Math.min(1000, dataset.length() - index), Long.MAX_VALUE);
        for (int i = 0; i < reader.count(); i++) {
          long value =
              ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong();
          found.merge(value, 1, Integer::sum);
        }
      }
    }
    return found;
  }
}
