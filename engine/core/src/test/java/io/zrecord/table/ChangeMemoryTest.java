package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What changes of records take of the heap of a process. */
final class ChangeMemoryTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("number", ElementType.I32).build();
  private static final int MOST_RECORDS = 20_000_000;
  private static final int LEAST_RECORDS = 2_000_000;

  /** For the process itself. */
  private static final int BASE_BYTES = 12 << 20;

  /** Copies of the set of deleted slots, one bit for each slot of the shard. */
  private static final int SETS = 8;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private RecordTable create(int records) {
    Storage storage = LocalStorage.at(directory.resolve("table"));
    RecordTable table = RecordTable.at(storage);
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 20).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      for (int i = 0; i < records; i++) {
        writer.putInt(0, i);
        writer.endRecord();
      }
      table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
          .shards(List.of(writer.finish().orElseThrow()))
          .build());
    }
    return table;
  }

  private JavaProcess.Result run(Class<?> program, int heapBytes, Object... arguments)
      throws Exception {
    JavaProcess process = JavaProcess.of(program)
        .option("-Xmx" + heapBytes)
        .option("-XX:+UseSerialGC")
        .option("-XX:TieredStopAtLevel=1");
    String[] texts = new String[arguments.length + 1];
    texts[0] = directory.resolve("table").toString();
    for (int i = 0; i < arguments.length; i++) {
      texts[i + 1] = arguments[i].toString();
    }
    JavaProcess.Result result = process.run(texts);
    System.out.print(result.output());
    assertThat(result.exitCode()).as(result.output()).isZero();
    return result;
  }

  /** Half of the records are deleted, in rising order or as they come. */
  @ParameterizedTest
  @ValueSource(strings = {"rising", "scattered", "by a driver"})
  void pendingDeletionsTakeTheBitsOfTheirSlots(String how) throws Exception {
    int records = Math.max(LEAST_RECORDS, Math.min(MOST_RECORDS, Budget.of(MOST_RECORDS / 5)));
    RecordTable table = create(records);
    run(Deleting.class, BASE_BYTES + SETS * (records / 8), how);
    TableSnapshot after = table.latest();
    assertThat(after.length()).isEqualTo(records / 2);
    assertThat(after.shards().get(0).patch()).isNotNull();
  }

  /** The process. */
  static final class Deleting {
    private Deleting() {}

    public static void main(String[] arguments) {
      RecordTable table = RecordTable.at(LocalStorage.at(Path.of(arguments[0])));
      TableSnapshot base = table.latest();
      int records = (int) base.length();
      // Has no common factor with the number of records.
      long step = arguments[1].equals("rising") ? 1 : 7_368_787;
      if (arguments[1].equals("by a driver")) {
        RowChange change = RowChange.of(base);
        for (long i = 0; i < records / 2; i++) {
          change.delete(2 * (i * step % (records / 2)));
        }
        change.commit();
      } else {
        try (ShardChangeWriter writer = ShardChangeWriter.open(
            base.storage(), ChangeBase.of(base), base.shards().get(0), Set.of())) {
          for (long i = 0; i < records / 2; i++) {
            writer.delete(2 * (i * step % (records / 2)));
          }
          MergeChange.of(base).change(writer.finish()).commit();
        }
      }
      System.out.printf(
          "%d deletions %s in a heap of %d bytes%n",
          records / 2, arguments[1], Runtime.getRuntime().maxMemory());
      System.exit(0);
    }
  }

  @Test
  void smallCommitsOfAProcessLeaveNothingInItsHeap() throws Exception {
    create(1000);
    int commits = Math.max(100, Budget.of(100));
    String output = run(Committing.class, 64 << 20, commits).output();
    String[] bytes = output
        .lines()
        .filter(line -> line.startsWith("heap "))
        .findFirst()
        .orElseThrow()
        .split(" ", -1);
    assertThat(Long.parseLong(bytes[2]) - Long.parseLong(bytes[1])).isLessThan(1 << 20);
  }

  /** Makes small changes, and says what the heap has after some of them and after all. */
  static final class Committing {
    private Committing() {}

    public static void main(String[] arguments) {
      RecordTable table = RecordTable.at(LocalStorage.at(Path.of(arguments[0])));
      int commits = Integer.parseInt(arguments[1]);
      long first = 0;
      for (int commit = 0; commit < commits; commit++) {
        TableSnapshot base = table.latest();
        ShardSummary shard = base.shards().get(0);
        try (ShardChangeWriter writer =
            ShardChangeWriter.open(base.storage(), ChangeBase.of(base), shard, Set.of("number"))) {
          writer.update(commit % shard.length(), "number", -commit);
          if (commit % 3 == 0) {
            writer.delete(shard.length() - 1);
          }
          MergeChange.of(base).change(writer.finish()).commit();
        }
        if (commit == commits / 5) {
          first = usedHeap();
        }
      }
      System.out.printf("heap %d %d%n", first, usedHeap());
      System.exit(0);
    }

    private static long usedHeap() {
      for (int i = 0; i < 3; i++) {
        System.gc();
      }
      Runtime runtime = Runtime.getRuntime();
      return runtime.totalMemory() - runtime.freeMemory();
    }
  }
}
