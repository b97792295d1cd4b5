package io.zrecord.benchmarks;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;
import java.util.UUID;

/**
 * Measures how fast one thread writes shards to the page cache, against a plain channel that copies
 * and writes the same number of bytes. Figures are by the thread's processor time, with the
 * kernel's part, and by the clock, which other load on the machine spoils. Argument: directory.
 */
public final class ShardWriterBenchmark {
  private static final int ROUNDS = Effort.rounds(7);
  /** A multiple of 1 MiB. */
  private static final long VALUE_BYTES = (long) Effort.of(1 << 10) << 20;

  private static final int SCALAR_RECORDS = Effort.of(50_000_000);

  private final Path directory;
  private final byte[] source = new byte[64 << 20];

  private ShardWriterBenchmark(Path directory) {
    this.directory = directory;
    new Random(1).nextBytes(source);
  }

  public static void main(String[] arguments) throws IOException {
    Path parent =
        Path.of(arguments.length > 0 ? arguments[0] : System.getProperty("java.io.tmpdir"));
    Path directory = Files.createTempDirectory(parent, "zrecord-speed");
    try {
      new ShardWriterBenchmark(directory).run();
    } finally {
      LocalStorage.at(parent).delete(String.valueOf(directory.getFileName()));
    }
  }

  private void run() throws IOException {
    double gib = VALUE_BYTES / (double) (1 << 30);
    Figures plain = new Figures("plain channel, 1-MiB writes", "GiB/s", gib);
    Figures checked = new Figures("64-KiB values, CRC32C", "GiB/s", gib);
    Figures unchecked = new Figures("64-KiB values, no checksum", "GiB/s", gib);
    Figures small = new Figures("1-KiB values, CRC32C", "GiB/s", gib);
    Figures scalars = new Figures("(i32, f32), CRC32C", "M records/s", SCALAR_RECORDS / 1e6);
    for (int round = 0; round < ROUNDS; round++) {
      measure(plain, round, this::writePlain);
      measure(checked, round, () -> writeValues(Checksum.CRC32C, 64 << 10));
      measure(unchecked, round, () -> writeValues(Checksum.NONE, 64 << 10));
      measure(small, round, () -> writeValues(Checksum.CRC32C, 1 << 10));
      measure(scalars, round, this::writeScalars);
    }
    for (Figures figures : new Figures[] {plain, checked, unchecked, small, scalars}) {
      figures.print();
    }
  }

  private void writePlain() throws IOException {
    Path file = directory.resolve("plain");
    ByteBuffer buffer = ByteBuffer.allocateDirect(1 << 20);
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      for (long done = 0; done < VALUE_BYTES; done += buffer.capacity()) {
        buffer
            .clear()
            .put(source, (int) (done % source.length), buffer.capacity())
            .flip();
        channel.write(buffer);
      }
    }
  }

  private void writeValues(Checksum checksum, int length) {
    RecordSchema schema =
        RecordSchema.builder().field("value", ElementType.BYTES).build();
    try (ShardWriter writer = writer(schema, checksum)) {
      for (long done = 0; done < VALUE_BYTES; done += length) {
        writer.put(0, source, (int) (done % source.length), length);
        writer.endRecord();
      }
      writer.finish();
    }
  }

  private void writeScalars() {
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("weight", ElementType.F32)
        .build();
    try (ShardWriter writer = writer(schema, Checksum.CRC32C)) {
      for (int i = 0; i < SCALAR_RECORDS; i++) {
        writer.putInt(0, i);
        writer.putFloat(1, i * 0.5f);
        writer.endRecord();
      }
      writer.finish();
    }
  }

  private ShardWriter writer(RecordSchema schema, Checksum checksum) {
    Storage storage = LocalStorage.at(directory);
    return ShardWriter.create(
        storage,
        UUID.randomUUID(),
        schema,
        WriteOptions.defaults().withChecksum(checksum).withDurability(Durability.NONE));
  }

  private interface Work {
    void run() throws IOException;
  }

  private void measure(Figures figures, int round, Work work) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long start = System.nanoTime();
    long startCpu = threads.getCurrentThreadCpuTime();
    work.run();
    figures.byProcessor[round] =
        figures.amount * 1e9 / (threads.getCurrentThreadCpuTime() - startCpu);
    figures.byClock[round] = figures.amount * 1e9 / (System.nanoTime() - start);
    Storage storage = LocalStorage.at(directory);
    storage.delete("shard");
    storage.delete("plain");
  }

  private static final class Figures {
    private final String what;
    private final String unit;
    private final double amount;
    private final double[] byProcessor = new double[ROUNDS];
    private final double[] byClock = new double[ROUNDS];

    Figures(String what, String unit, double amount) {
      this.what = what;
      this.unit = unit;
      this.amount = amount;
    }

    void print() {
      Arrays.sort(byProcessor);
      Arrays.sort(byClock);
      System.out.println(String.format(
          Locale.ROOT,
          "%-28s processor: median %6.2f best %6.2f; clock: median %6.2f best %6.2f %s",
          what,
          byProcessor[ROUNDS / 2],
          byProcessor[ROUNDS - 1],
          byClock[ROUNDS / 2],
          byClock[ROUNDS - 1],
          unit));
    }
  }
}
