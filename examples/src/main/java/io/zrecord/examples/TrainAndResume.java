package io.zrecord.examples;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.feed.Feed;
import io.zrecord.feed.FeedBatch;
import io.zrecord.feed.FeedBuilder;
import io.zrecord.feed.FeedGroup;
import io.zrecord.feed.FeedState;
import io.zrecord.feed.FeedStatistics;
import io.zrecord.feed.Validation;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/**
 * Does the work of a training job: shuffled batches for some epochs, with a validation after each
 * epoch, stopped in the middle of an epoch and resumed with other threads. It learns exactly what
 * an uninterrupted training learns. No Spark on the class path. Argument: a directory where nothing
 * exists yet.
 */
public final class TrainAndResume {
  private static final int RECORDS = 20_000;
  private static final int INPUTS = 8;
  private static final int EPOCHS = 3;
  private static final int REPORT_EVERY = 100;
  private static final long SEED = 7;

  private final float[] weights = new float[INPUTS];
  private int hits;
  private int validated;

  private TrainAndResume() {}

  public static void main(String[] args) {
    Path path = Path.of(args[0]);
    write(path);
    try (RecordDataset data = RecordDataset.open(path.toString())) {
      TrainAndResume inOneGo = new TrainAndResume();
      inOneGo.train(feed(data), Long.MAX_VALUE);

      TrainAndResume stopped = new TrainAndResume();
      String checkpoint = stopped.train(feed(data), 111);
      System.out.println("stopped at " + checkpoint);
      FeedState state = FeedState.fromJson(checkpoint);
      stopped.train(feed(data).resume(state).loaderThreads(4).depth(8), Long.MAX_VALUE);

      Check.equal(
          "the same weights", Arrays.toString(inOneGo.weights), Arrays.toString(stopped.weights));
      Check.equal("most of the validation is right", true, stopped.hits > 0.9 * stopped.validated);
    }
  }

  /**
   * Returns a feed of the first 19,000 records in shuffled batches, and of the other records after
   * each epoch.
   */
  private static FeedBuilder feed(RecordDataset data) {
    FeedGroup training = FeedGroup.of(data)
        .sampler(Samplers.shuffle(RECORDS - 1_000, SEED), SEED)
        .batchSize(128);
    FeedGroup validation = FeedGroup.of(data)
        .name("validation")
        .sampler(Samplers.sequential(RECORDS - 1_000, RECORDS, 1), 0)
        .batchSize(500);
    return Feed.of(training)
        .validate(Validation.everyEpochs(1, validation))
        .stopBeforeEpoch(EPOCHS);
  }

  /**
   * Trains on at most {@code batches} batches. Returns what a checkpoint keeps in addition to the
   * weights.
   */
  private String train(FeedBuilder builder, long batches) {
    try (Feed feed = builder.start()) {
      long done = 0;
      for (FeedBatch batch : feed) {
        try (batch) {
          if (batch.isValidation()) {
            validate(batch);
          } else {
            learn(batch);
            done++;
            report(feed, batch);
          }
          if (done == batches) {
            return batch.next().toJson();
          }
        }
      }
      return feed.lastCompleted().toJson();
    }
  }

  private static void report(Feed feed, FeedBatch batch) {
    long all = feed.batchesPerEpoch() * EPOCHS;
    if ((batch.batch() + 1) % REPORT_EVERY == 0) {
      FeedStatistics statistics = feed.statistics();
      System.out.printf(
          Locale.ROOT,
          "%3d %%  epoch %d, waited %.3f ms a batch, %d dropped%n",
          100 * (batch.batch() + 1) / all,
          batch.epoch(),
          statistics.idleNanos() / 1e6 / statistics.batches(),
          statistics.droppedBatches());
    }
  }

  /** Does a step of logistic regression. */
  private void learn(FeedBatch batch) {
    ByteBuffer inputs = batch.data("inputs");
    ByteBuffer labels = batch.data("label");
    float[] gradient = new float[INPUTS];
    for (int i = 0; i < batch.count(); i++) {
      float error = labels.getInt(4 * i) - probability(inputs, i);
      for (int k = 0; k < INPUTS; k++) {
        gradient[k] += error * inputs.getFloat(4 * (i * INPUTS + k));
      }
    }
    for (int k = 0; k < INPUTS; k++) {
      weights[k] += 0.5f * gradient[k] / batch.count();
    }
  }

  private void validate(FeedBatch batch) {
    for (int i = 0; i < batch.count(); i++) {
      boolean isOne = probability(batch.data("inputs"), i) > 0.5;
      hits += isOne == (batch.data("label").getInt(4 * i) == 1) ? 1 : 0;
      validated++;
    }
  }

  private float probability(ByteBuffer inputs, int i) {
    float sum = 0;
    for (int k = 0; k < INPUTS; k++) {
      sum += weights[k] * inputs.getFloat(4 * (i * INPUTS + k));
    }
    return (float) (1 / (1 + Math.exp(-sum)));
  }

  /** Writes points on two sides of a plane. */
  private static void write(Path path) {
    RecordSchema schema = RecordSchema.builder()
        .field("inputs", ElementType.F32, Shape.of(INPUTS), Compression.RAW)
        .field("label", ElementType.I32)
        .build();
    Random random = new Random(SEED);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      float[] inputs = new float[INPUTS];
      for (int i = 0; i < RECORDS; i++) {
        float side = 0;
        for (int k = 0; k < INPUTS; k++) {
          inputs[k] = (float) random.nextGaussian();
          side += k % 2 == 0 ? inputs[k] : -inputs[k];
        }
        records.set("inputs", inputs).set("label", side > 0 ? 1 : 0).endRecord();
      }
      writer.commit();
    }
  }
}
