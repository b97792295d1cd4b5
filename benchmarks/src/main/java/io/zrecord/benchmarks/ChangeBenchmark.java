package io.zrecord.benchmarks;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Measures changes of tables that write little: new values of some records, and a new field. Reads
 * of a version take turns with reads of the version before, and changes alone with changes that are
 * carried over a rebalance.
 *
 * <p>4 GiB of 64-KiB binaries, 16 M ints, 2 M texts of about 200 bytes, 1 M records that get a
 * field of 4 KiB, and 10 M longs. Argument: a work directory.
 */
public final class ChangeBenchmark {
  private static final int SHARDS = 4;
  private static final int BATCH_BYTES = 1 << 20;
  private static final int SEED = 12;

  /** Shards that are rebalanced while a change of them waits. */
  private static final int SMALL_SHARDS = 40;

  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  private final Path work;
  private final ByteBuffer target = ByteBuffer.allocateDirect(BATCH_BYTES);
  private final Random random = new Random(SEED);

  /** Results go here, so that no work is optimized away. */
  private long consumed;

  /** Puts the value of a record. */
  private interface Values {
    void put(ShardWriter writer, int record);
  }

  /** A change that waits for its commit. */
  private @Nullable RowChange waiting;

  private ChangeBenchmark(Path work) {
    this.work = work;
  }

  public static void main(String[] arguments) throws IOException {
    Path work = Files.createDirectories(Path.of(arguments[0])).resolve("changes");
    ChangeBenchmark benchmark = new ChangeBenchmark(work);
    Workplace.delete(work);
    benchmark.binaries();
    benchmark.ints();
    benchmark.texts();
    benchmark.newField();
    benchmark.carried();
    Workplace.delete(work);
    System.out.printf("(results %x)%n", benchmark.consumed);
  }

  private void binaries() throws IOException {
    int bytes = 64 << 10;
    int records = (int) (Effort.of(4L << 30) / bytes);
    byte[] value = Workplace.noise(bytes, SEED);
    RecordSchema schema =
        RecordSchema.builder().field("value", ElementType.BYTES).build();
    TableSnapshot before = write(schema, records, (writer, record) -> {
      value[record % bytes]++;
      writer.put(0, value, 0, bytes);
    });
    long bytesBefore = Workplace.lengthOf(work);
    int changed = Math.max(SHARDS, records / 1000);
    TableSnapshot after = update(before, changed, record -> Workplace.noise(bytes, record));
    long written = Workplace.lengthOf(work) - bytesBefore;
    Figure.atMost(
        "Bytes written by an update of " + changed + " of " + records
            + " binaries of 64 KiB, beside 1.1 times the new values and 1 MiB a shard",
        written / (1.1 * changed * bytes + (double) SHARDS * (1 << 20)),
        1);
    compare("0.1 % of binaries of 64 KiB changed", before, after, bytes, 256, 0, 0.95);
  }

  private void ints() throws IOException {
    int records = Effort.of(16_000_000);
    RecordSchema schema = RecordSchema.builder().field("value", ElementType.I32).build();
    TableSnapshot before = write(schema, records, (writer, record) -> writer.putInt(0, record));
    TableSnapshot after = update(before, records / 100, record -> record);
    compare("1 % of ints changed", before, after, Integer.BYTES, 16_384, 0.8, 0.8);
  }

  private void texts() throws IOException {
    int records = Effort.of(2_000_000);
    byte[] value = Workplace.noise(256, SEED);
    RecordSchema schema =
        RecordSchema.builder().field("value", ElementType.BYTES).build();
    TableSnapshot before =
        write(schema, records, (writer, record) -> writer.put(0, value, 0, 144 + record % 113));
    TableSnapshot after = update(before, records / 100, record -> Workplace.noise(200, record));
    compare("1 % of binaries of 144 to 256 bytes changed", before, after, 256, 4_096, 0.8, 0.8);
    TableSnapshot whole =
        write(schema, records, (writer, record) -> writer.put(0, value, 0, 144 + record % 113));
    RowChange holes = RowChange.of(whole);
    for (int i = 0; i < records / 100; i++) {
      holes.delete(random.nextInt(records));
    }
    compare("1 % of such records deleted", whole, holes.commit(), 256, 4_096, 0.8, 0.8);
  }

  private void newField() throws IOException {
    int bytes = 4 << 10;
    int records = Effort.of(1_000_000);
    byte[] value = Workplace.noise(bytes, SEED);
    RecordSchema label = RecordSchema.builder().field("label", ElementType.I64).build();
    RecordSchema field =
        RecordSchema.builder().field("value", ElementType.BYTES).build();
    Values values = (writer, record) -> {
      value[record % bytes]++;
      writer.put(0, value, 0, bytes);
    };
    Values labels = (writer, record) -> writer.putLong(0, record);
    Contest contest = new Contest("a field of 4 KiB", 1, 5);
    contest.add("zrecord, alone", this::deleteWork, () -> write(field, records, values));
    contest.add("added", () -> write(label, records, labels), () -> addField(records, values));
    Map<String, Double> seconds = contest.run();
    Figure.atMost(
        "Time to add a field of 4 KiB to " + records + " records, beside a table of it alone",
        time(seconds, "added") / Contest.reference(seconds),
        1.2);
    write(label, records, labels);
    Map<Path, Long> before = files();
    addField(records, values);
    Map<Path, Long> after = files();
    long rewritten = before.entrySet().stream()
        .filter(file -> !file.getKey().endsWith("latest"))
        .filter(file -> !file.getValue().equals(after.get(file.getKey())))
        .count();
    Figure.atMost("Files that the new field changed", (double) rewritten, 0);
    Figure.atMost(
        "Bytes written, beside those of the values",
        (sum(after) - sum(before)) / ((double) records * bytes),
        1.01);
  }

  /**
   * Compares the commit of a change with that of the same change after a rebalance has written its
   * records to other shards.
   */
  private void carried() {
    int records = Effort.of(10_000_000);
    RecordSchema schema = RecordSchema.builder().field("value", ElementType.I64).build();
    Contest contest = new Contest("0.1 % of longs changed", 5, 21);
    contest.add("zrecord, alone", () -> prepare(schema, records, false), this::commitWaiting);
    contest.add(
        "carried over a rebalance", () -> prepare(schema, records, true), this::commitWaiting);
    Map<String, Double> seconds = contest.run();
    Figure.atMost(
        "Time to change 0.1 % of " + records + " longs in " + SMALL_SHARDS
            + " shards, which a rebalance joined meanwhile, beside the change alone",
        time(seconds, "carried over a rebalance") / Contest.reference(seconds),
        1.2);
  }

  /** Writes a table and plans a change of it. Nothing waits to be written to the disk then. */
  private void prepare(RecordSchema schema, int records, boolean isRebalanced) {
    TableSnapshot table =
        write(schema, SMALL_SHARDS, records, (writer, record) -> writer.putLong(0, record));
    RowChange change = RowChange.of(table);
    for (int i = 0; i < Math.max(SMALL_SHARDS, records / 1000); i++) {
      change.update(random.nextInt(records), "value", (long) i);
    }
    waiting = change;
    if (isRebalanced) {
      RebalanceOptions options = RebalanceOptions.defaults().withAllShards().withWrite(OPTIONS);
      TableRebalance.of(RebalancePlan.of(table, options)).run();
    }
    Workplace.run("sync");
  }

  private void commitWaiting() {
    consumed += Objects.requireNonNull(waiting).commit().version();
  }

  /** Writes a new table, and deletes that before. */
  private TableSnapshot write(RecordSchema schema, int records, Values values) {
    return write(schema, SHARDS, records, values);
  }

  private TableSnapshot write(RecordSchema schema, int shards, int records, Values values) {
    deleteWork();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(work.toString(), schema, OPTIONS)) {
      for (int shard = 0; shard < shards; shard++) {
        ShardWriter appender = writer.newAppender().shard();
        int end = (int) ((long) records * (shard + 1) / shards);
        for (int i = (int) ((long) records * shard / shards); i < end; i++) {
          values.put(appender, i);
          appender.endRecord();
        }
      }
      return writer.commit();
    }
  }

  private static int first(int records, int shard) {
    return (int) ((long) records * shard / SHARDS);
  }

  private void deleteWork() {
    try {
      Workplace.delete(work);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void addField(int records, Values values) {
    FieldSpec field = new FieldSpec(1, "value", ElementType.BYTES, Shape.scalar(), Compression.RAW);
    RecordTable table = RecordTable.at(LocalStorage.at(work));
    try (RecordFieldsWriter writer = RecordFieldsWriter.add(table, List.of(field), OPTIONS)) {
      for (int shard = 0; shard < SHARDS; shard++) {
        ShardWriter appender = writer.newAppender(shard).shard();
        for (int i = first(records, shard); i < first(records, shard + 1); i++) {
          values.put(appender, i);
          appender.endRecord();
        }
        writer.finish(shard);
      }
      writer.commit();
    }
  }

  /** Returns the lengths of the files. */
  private Map<Path, Long> files() throws IOException {
    Map<Path, Long> files = new TreeMap<>();
    try (var paths = Files.walk(work)) {
      for (Path path : (Iterable<Path>) paths.filter(Files::isRegularFile)::iterator) {
        files.put(path, Files.size(path));
      }
    }
    return files;
  }

  private static long sum(Map<Path, Long> files) {
    return files.values().stream().mapToLong(Long::longValue).sum();
  }

  /** Gives random records new values. */
  private TableSnapshot update(TableSnapshot table, int changed, IntFunction<Object> value) {
    RowChange change = RowChange.of(table);
    for (int i = 0; i < changed; i++) {
      change.update(random.nextInt((int) table.length()), "value", value.apply(i));
    }
    return change.commit();
  }

  /** Compares reads of a version with those of the version before. */
  private void compare(
      String what,
      TableSnapshot before,
      TableSnapshot after,
      int bytes,
      int gathered,
      double askedOfScan,
      double askedOfGather) {
    try (RecordDataset old = RecordDataset.open(before, ReadOptions.defaults());
        RecordDataset changed = RecordDataset.open(after, ReadOptions.defaults())) {
      Map<String, Double> scans = contest("scan, " + what, () -> scan(old), () -> scan(changed));
      if (askedOfScan > 0) {
        Figure.atLeast(
            "Scan, " + what + ", speed beside that before",
            time(scans, "zrecord, before") / time(scans, "after"),
            askedOfScan);
      }
      int batch = Math.min(gathered, BATCH_BYTES / bytes);
      Map<String, Double> gathers = contest(
          "gather, " + what,
          () -> gather(old, gathered, batch),
          () -> gather(changed, gathered, batch));
      Figure.atLeast(
          "Gather, " + what + ", speed beside that before",
          time(gathers, "zrecord, before") / time(gathers, "after"),
          askedOfGather);
    }
  }

  private static double time(Map<String, Double> medians, String contestant) {
    return Objects.requireNonNull(medians.get(contestant));
  }

  private static Map<String, Double> contest(String title, Runnable before, Runnable after) {
    Contest contest = new Contest(title, 10, 51);
    contest.add("zrecord, before", before);
    contest.add("after", after);
    return contest.run();
  }

  private void scan(RecordDataset table) {
    FieldReader reader = table.reader("value");
    for (long next = 0; next < table.length(); ) {
      int most = (int) Math.min(1 << 18, table.length() - next);
      next += reader.selectRange(next, most, BATCH_BYTES);
      reader.copyAll(target.clear());
      consumed += target.get(0);
    }
  }

  private void gather(RecordDataset table, int gathered, int batch) {
    FieldReader reader = table.reader("value");
    long[] indices = random.longs(gathered, 0, table.length()).toArray();
    for (int from = 0; from < indices.length; from += batch) {
      reader.select(indices, from, Math.min(batch, indices.length - from));
      reader.copyAll(target.clear());
      consumed += target.get(0);
    }
  }
}
