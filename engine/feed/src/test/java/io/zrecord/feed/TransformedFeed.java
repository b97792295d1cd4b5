package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A dataset that feeds read, and a transform of its records. */
abstract class TransformedFeed {
  static final int RECORDS = 300;

  static final FieldSpec SCORE =
      new FieldSpec(1, "score", ElementType.F32, Shape.of(2), Compression.RAW);

  static final FieldSpec TEXT =
      new FieldSpec(2, "text", ElementType.UTF8, Shape.scalar(), Compression.RAW);

  @TempDir
  Path directory;

  RecordDataset dataset;

  @BeforeEach
  void write() {
    FeedData.write(directory.resolve("data"), RECORDS, 0);
    dataset = RecordDataset.open(directory.resolve("data").toString());
  }

  @AfterEach
  void close() {
    dataset.close();
  }

  FeedGroup group() {
    return FeedGroup.of(dataset).sampler(Samplers.shuffle(RECORDS, 9), 9).batchSize(32);
  }

  static void score(RecordInput in, RecordOutput out, long seed) {
    out.value("score").putFloat(0, (float) in.value("label").getLong(0)).putInt(4, (int) seed);
    if (in.isAbsent("text")) {
      out.absent("text");
    } else {
      out.put("text", in.value("text").limit(6));
    }
  }

  static boolean next(Feed feed) {
    try (FeedBatch batch = feed.next()) {
      return batch != null;
    }
  }
}
