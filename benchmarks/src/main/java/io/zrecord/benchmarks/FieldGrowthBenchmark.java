package io.zrecord.benchmarks;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;

/**
 * Measures how the engine grows with the fields of a record: 2, 27 and 1,000 fields of 8 bytes, the
 * same number of records of each. Tables take turns. Opening ends with the first value of a field,
 * and nothing of the table is in the memory of the process before.
 *
 * <p>200,000 records. Argument: a work directory.
 */
public final class FieldGrowthBenchmark {
  private static final int[] FIELDS = {2, 27, 1_000};
  private static final int GATHERED = 256;
  private static final int WARM_UPS = 5;
  private static final int REPEATS = 15;
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  private final Path work;
  private final int records;
  private final byte[] target = new byte[1 << 20];
  private final ByteBuffer gathered =
      ByteBuffer.allocateDirect(GATHERED * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private final Random random = new Random(11);

  /** Results go here, so that no work is optimized away. */
  private long consumed;

  private FieldGrowthBenchmark(Path work, int records) {
    this.work = work;
    this.records = records;
  }

  public static void main(String[] arguments) throws IOException {
    Path work = Files.createDirectories(Path.of(arguments[0]).resolve("field-growth"));
    Workplace.delete(work);
    new FieldGrowthBenchmark(work, Effort.of(200_000)).run();
    Workplace.delete(work);
  }

  private void run() throws IOException {
    RecordDataset[] tables = new RecordDataset[FIELDS.length];
    double[] sizes = new double[FIELDS.length];
    for (int i = 0; i < FIELDS.length; i++) {
      Path path = pathOf(i);
      write(path, FIELDS[i]);
      sizes[i] = Workplace.lengthOf(path) / (8.0 * FIELDS[i] * records);
      tables[i] = RecordDataset.open(path.toString());
    }
    System.out.printf("%n| %,d records of%s |%n|---%s|%n", records, columns(), "|---".repeat(3));
    System.out.printf(
        Locale.ROOT, "| size / raw | %.4f | %.4f | %.4f |%n", sizes[0], sizes[1], sizes[2]);
    contest("open, to the first value (µs)", i -> open(pathOf(i), "f1"));
    contest("scan of one field (µs)", i -> scan(tables[i], "f1"));
    contest("gather of one field of 256 records (µs)", i -> gather(tables[i], "f1"));
    contest("gather of 256 whole records (µs)", i -> gather(tables[i]));
    System.out.printf("(results %x)%n", consumed);
    for (RecordDataset table : tables) {
      table.close();
    }
  }

  private Path pathOf(int table) {
    return work.resolve(FIELDS[table] + "-fields");
  }

  private static String columns() {
    return Arrays.stream(FIELDS)
        .mapToObj(fields -> String.format(Locale.ROOT, " | %,d fields", fields))
        .collect(Collectors.joining());
  }

  private static void contest(String title, IntConsumer question) {
    Contest contest = new Contest(title, WARM_UPS, REPEATS);
    for (int i = 0; i < FIELDS.length; i++) {
      int table = i;
      contest.add(FIELDS[i] + " fields", () -> question.accept(table));
    }
    System.out.println(contest.medians().values().stream()
        .map(seconds -> String.format(Locale.ROOT, "%,.0f", seconds * 1e6))
        .collect(Collectors.joining(" | ", "| " + title + " | ", " |")));
  }

  private void write(Path path, int fields) {
    RecordSchema.Builder named = RecordSchema.builder();
    for (int field = 0; field < fields; field++) {
      named.field("f" + field, ElementType.I64);
    }
    RecordSchema schema = named.build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, OPTIONS)) {
      ShardWriter shard = writer.newAppender().shard();
      for (long record = 0; record < records; record++) {
        for (int field = 0; field < fields; field++) {
          shard.putLong(field, record * field);
        }
        shard.endRecord();
      }
      writer.commit();
    }
  }

  private void open(Path path, String field) {
    TableSnapshot table =
        RecordTable.at(new CountingStorage(LocalStorage.at(path))).latest();
    try (RecordDataset dataset = RecordDataset.open(table, ReadOptions.defaults());
        Batch batch = dataset.gather(new long[] {records / 2}, field)) {
      consumed += batch.bytes(field, 0)[0];
    }
  }

  private void scan(RecordDataset table, String field) {
    FieldReader reader = table.reader(field);
    for (long next = 0; next < table.length(); ) {
      int most = (int) Math.min(target.length / Long.BYTES, table.length() - next);
      next += reader.selectRange(next, most, target.length);
      reader.copyAll(target, 0);
      consumed += target[0];
    }
  }

  private void gather(RecordDataset table, String... fields) {
    long[] indices = random.longs(GATHERED, 0, records).toArray();
    try (Batch batch = table.gather(indices, fields)) {
      for (String field : batch.fields()) {
        batch.copyAll(field, gathered.clear());
        consumed += gathered.get(0);
      }
    }
  }
}
