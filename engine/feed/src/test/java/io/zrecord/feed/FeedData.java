package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.sampler.Sampler;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A dataset whose values say their index, and what is to be expected of batches of it. */
final class FeedData {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("image", ElementType.U8, Shape.of(4, 3), Compression.RAW)
      .field("label", ElementType.I64)
      .field("text", ElementType.UTF8, Shape.scalar(), Compression.of(Codec.ZSTD))
      .field("tokens", ElementType.I32, Shape.of(-1), Compression.RAW)
      .build();

  private FeedData() {}

  /**
   * Labels are {@code first + index}; every seventh text is absent; there are {@code index % 6}
   * tokens, all {@code index}.
   */
  static void write(Path path, int records, long first) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      byte[] image = new byte[12];
      for (int i = 0; i < records; i++) {
        image[0] = (byte) i;
        image[11] = (byte) (i >> 8);
        int[] tokens = new int[i % 6];
        java.util.Arrays.fill(tokens, i);
        appender.set("image", image).set("label", first + i).set("tokens", tokens);
        if (i % 7 != 0) {
          appender.set("text", text(i));
        }
        appender.endRecord();
      }
      writer.commit();
    }
  }

  static String text(long index) {
    return "record " + "x".repeat((int) index % 50) + index;
  }

  /**
   * Returns labels in the order delivered, of at most this many batches; checks every batch in all
   * fields.
   */
  static List<Long> labels(Feed feed, int batches) {
    List<Long> labels = new ArrayList<>();
    for (int done = 0; done < batches; done++) {
      try (FeedBatch batch = feed.next()) {
        if (batch == null) {
          break;
        }
        labels.addAll(check(batch));
      }
    }
    return labels;
  }

  /** Compares every value of a batch with its index; returns the labels. */
  static List<Long> check(FeedBatch batch) {
    List<Long> labels = new ArrayList<>();
    ByteBuffer all = batch.data("label");
    assertThat(all.remaining()).isEqualTo(8 * batch.count());
    for (int i = 0; i < batch.count(); i++) {
      long index = batch.index(i);
      assertThat(batch.value("image", i).get(0)).isEqualTo((byte) index);
      assertThat(batch.value("image", i).get(11)).isEqualTo((byte) (index >> 8));
      assertThat(batch.isAbsent("text", i)).isEqualTo(index % 7 == 0);
      assertThat(StandardCharsets.UTF_8.decode(batch.value("text", i)).toString())
          .isEqualTo(index % 7 == 0 ? "" : text(index));
      assertThat(batch.lengthBytes("tokens", i)).isEqualTo(4 * (int) (index % 6));
      labels.add(all.getLong(8 * i));
    }
    return labels;
  }

  /** Returns the indices of an order from a position to the beginning of an epoch. */
  static List<Long> expected(Sampler order, long epoch, long position, long endEpoch) {
    List<Long> indices = new ArrayList<>();
    long from = position;
    for (long e = epoch; e < endEpoch; e++) {
      for (long p = from; p < order.length(); p++) {
        indices.add(order.index(e, p));
      }
      from = 0;
    }
    return indices;
  }
}
