package io.zrecord.examples;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;

/**
 * Does the work of a training job on one machine, with the engine alone: writes a dataset, then
 * gathers random batches of it. No Spark on the class path. Argument: a path where nothing exists
 * yet.
 */
public final class GatherWithoutSpark {
  private static final int RECORDS = 10_000;
  private static final int BATCH = 256;

  private GatherWithoutSpark() {}

  public static void main(String[] args) {
    Path path = Path.of(args[0]);
    write(path);
    try (RecordDataset dataset = RecordDataset.open(path.toString())) {
      Check.equal("records", (long) RECORDS, dataset.length());
      ByteBuffer images = ByteBuffer.allocateDirect(BATCH * 28 * 28);
      long[] indices = new Random(1).longs(BATCH, 0, dataset.length()).toArray();
      try (Batch batch = dataset.gather(indices, "image", "label")) {
        batch.copyAll("image", images); // one dense block, in the requested order
        int right = 0;
        for (int i = 0; i < BATCH; i++) {
          int label = batch.value("label", i).getInt(); // a view of the mapped file
          right += label == indices[i] % 10 && images.get(i * 28 * 28) == (byte) indices[i] ? 1 : 0;
        }
        Check.equal("records that are right", BATCH, right);
      }
    }
  }

  private static void write(Path path) {
    RecordSchema schema = RecordSchema.builder()
        .field("image", ElementType.U8, Shape.of(28, 28), Compression.RAW)
        .field("label", ElementType.I32)
        .build();
    byte[] image = new byte[28 * 28];
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        Arrays.fill(image, (byte) i);
        records.set("image", image).set("label", i % 10).endRecord();
      }
      writer.commit();
    }
  }
}
