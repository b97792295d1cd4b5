package io.zrecord.benchmarks;

import com.github.luben.zstd.Zstd;
import com.github.luben.zstd.ZstdDecompressCtx;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedGroup;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Random;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import net.jpountz.lz4.LZ4Factory;
import net.jpountz.lz4.LZ4SafeDecompressor;

/**
 * Measures a shuffled epoch of compressed texts of 16 KiB through the feed with one and two loader
 * threads, against the bare codec on one thread with all values in memory. Figures are medians of
 * five; contestants take turns. Argument: a work directory.
 */
public final class DecodeBenchmark {
  private static final int REPEATS = Effort.rounds(5);
  private static final int BATCH = 64;
  private static final int WIDTH = 1 << 14;
  private static final int RECORDS = Effort.of(1 << 14);
  private static final long SEED = 1;

  private DecodeBenchmark() {}

  public static void main(String[] arguments) throws IOException {
    byte[][] values = values();
    System.out.printf(
        "%n| values of 16 KiB | size | codec alone, MB/s | feed, 1 thread | feed, 2 threads |%n|---|---|---|---|---|%n");
    for (Codec codec : new Codec[] {Codec.FLATE, Codec.ZSTD, Codec.LZ4}) {
      Path path = Path.of(arguments[0]).resolve("decode-" + codec);
      write(path, codec, values);
      byte[][] compressed = compress(codec, values);
      try (RecordDataset dataset = RecordDataset.open(path.toString())) {
        double[][] seconds = new double[3][REPEATS];
        for (int round = -Effort.warmUps(2); round < REPEATS; round++) {
          double bare = bare(codec, compressed);
          double one = feed(dataset, 1);
          double two = feed(dataset, 2);
          if (round >= 0) {
            seconds[0][round] = bare;
            seconds[1][round] = one;
            seconds[2][round] = two;
          }
        }
        long bytes = 0;
        for (byte[] value : compressed) {
          bytes += value.length;
        }
        double megabytes = (double) WIDTH * RECORDS / 1e6;
        System.out.printf(
            Locale.ROOT,
            "| %s | %.2f | %.0f | %.0f | %.0f |%n",
            codec.name().toLowerCase(Locale.ROOT),
            (double) bytes / WIDTH / RECORDS,
            megabytes / Contest.median(seconds[0]),
            megabytes / Contest.median(seconds[1]),
            megabytes / Contest.median(seconds[2]));
      }
      Workplace.delete(path);
    }
  }

  /** Returns different texts of words of a small language. */
  private static byte[][] values() {
    Random random = new Random(SEED);
    byte[][] words = new byte[2_000][];
    for (int i = 0; i < words.length; i++) {
      words[i] = new byte[2 + random.nextInt(9)];
      for (int k = 0; k < words[i].length - 1; k++) {
        words[i][k] = (byte) ('a' + random.nextInt(26));
      }
      words[i][words[i].length - 1] = ' ';
    }
    byte[][] values = new byte[RECORDS][WIDTH];
    for (byte[] value : values) {
      for (int at = 0; at < WIDTH; ) {
        byte[] word = words[random.nextInt(1 + random.nextInt(words.length))];
        int length = Math.min(word.length, WIDTH - at);
        System.arraycopy(word, 0, value, at, length);
        at += length;
      }
    }
    return values;
  }

  private static void write(Path path, Codec codec, byte[][] values) throws IOException {
    Files.createDirectories(path.getParent());
    RecordSchema schema = RecordSchema.builder()
        .field("text", ElementType.U8, Shape.of(WIDTH), Compression.of(codec))
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (byte[] value : values) {
        appender.set("text", value).endRecord();
      }
      writer.commit();
    }
  }

  private static byte[][] compress(Codec codec, byte[][] values) {
    byte[][] compressed = new byte[values.length][];
    for (int i = 0; i < values.length; i++) {
      compressed[i] = switch (codec) {
        case FLATE -> deflate(values[i]);
        case ZSTD -> Zstd.compress(values[i]);
        default -> LZ4Factory.fastestInstance().fastCompressor().compress(values[i]);
      };
    }
    return compressed;
  }

  private static byte[] deflate(byte[] value) {
    Deflater deflater = new Deflater(Deflater.DEFAULT_COMPRESSION, true);
    deflater.setInput(value);
    deflater.finish();
    byte[] target = new byte[2 * value.length];
    int length = deflater.deflate(target);
    deflater.end();
    return java.util.Arrays.copyOf(target, length);
  }

  private static double bare(Codec codec, byte[][] compressed) {
    Sampler order = Samplers.shuffle(RECORDS, SEED);
    byte[] target = new byte[WIDTH];
    Inflater inflater = new Inflater(true);
    ZstdDecompressCtx zstd = new ZstdDecompressCtx();
    LZ4SafeDecompressor lz4 = LZ4Factory.fastestInstance().safeDecompressor();
    long start = System.nanoTime();
    long sum = 0;
    for (int i = 0; i < compressed.length; i++) {
      byte[] value = compressed[(int) order.index(0, i)];
      switch (codec) {
        case FLATE -> inflate(inflater, value, target);
        case ZSTD -> zstd.decompress(target, value);
        default -> lz4.decompress(value, target);
      }
      sum += target[0];
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    inflater.end();
    zstd.close();
    return sum == Long.MIN_VALUE ? 0 : seconds;
  }

  private static void inflate(Inflater inflater, byte[] value, byte[] target) {
    try {
      inflater.reset();
      inflater.setInput(value);
      inflater.inflate(target);
    } catch (DataFormatException e) {
      throw new IllegalStateException(e);
    }
  }

  private static double feed(RecordDataset dataset, int threads) {
    long start = System.nanoTime();
    long sum = 0;
    try (Feed feed = Feed.of(
            FeedGroup.of(dataset).sampler(Samplers.shuffle(RECORDS, SEED), SEED).batchSize(BATCH))
        .loaderThreads(threads)
        .start()) {
      for (FeedBatch batch : feed) {
        sum += batch.data("text").get(0);
        batch.close();
      }
    }
    double seconds = (System.nanoTime() - start) / 1e9;
    return sum == Long.MIN_VALUE ? 0 : seconds;
  }
}
