package io.zrecord.cli;

import io.zrecord.RecordDataset;
import io.zrecord.feed.FeedGroup;
import io.zrecord.feed.spec.SamplerArguments;
import io.zrecord.feed.spec.SamplerParameter;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.sampler.Remainder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options for the order and the choice of records: one for each {@link SamplerParameter}. */
final class SamplerFlags {
  private static final String NUMBER = "N";

  private final EnumMap<SamplerParameter, String> texts = new EnumMap<>(SamplerParameter.class);

  @Option(
      names = "--batch-size",
      paramLabel = NUMBER,
      description = "records of a batch, and those that belong together in the order of global,"
          + " stratified and balanced (default: ${DEFAULT-VALUE})")
  private int batchSize = 256;

  @Option(
      names = "--indices",
      paramLabel = "FILE",
      description =
          "text file with an index a line: the records to order; sequential keeps the order "
              + "of the file")
  private @Nullable Path indices;

  @Option(
      names = "--sampler",
      paramLabel = "NAME",
      description =
          "order of the records. sequential: --from, --to, --step; sliding, a window over "
              + "the circle of records: --window, --stride; random, draws with replacement; "
              + "global, the same, but the records of a batch differ; shuffle (default); "
              + "blockShuffle, a shuffle of blocks and within them: --block-length, --mixed; "
              + "weighted, draws by weights: --weights-field; stratified, an epoch with the "
              + "labels spread evenly: --labels-field; balanced, every label equally often: "
              + "--labels-field")
  void sampler(@Nullable String text) {
    put(SamplerParameter.SAMPLER, text);
  }

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "seed of the order, any integer (default: 42)")
  void seed(@Nullable String text) {
    put(SamplerParameter.SEED, text);
  }

  @Option(names = "--epoch", paramLabel = "E", description = "the first epoch, from 0 (default: 0)")
  void epoch(@Nullable String text) {
    put(SamplerParameter.EPOCH, text);
  }

  @Option(
      names = "--start-position",
      paramLabel = "P",
      description = "number of positions of the first epoch to leave out, of all ranks together")
  void startPosition(@Nullable String text) {
    put(SamplerParameter.START_POSITION, text);
  }

  @Option(
      names = "--num-samples",
      paramLabel = NUMBER,
      description = "number of positions of an epoch, of all ranks together; without it, epochs of "
          + "random, global, weighted and balanced do not end")
  void numSamples(@Nullable String text) {
    put(SamplerParameter.NUM_SAMPLES, text);
  }

  @Option(
      names = "--rank",
      paramLabel = "R",
      description = "rank of this process, from 0 (default: 0)")
  void rank(@Nullable String text) {
    put(SamplerParameter.RANK, text);
  }

  @Option(
      names = "--world-size",
      paramLabel = "W",
      description = "number of processes that share the records (default: 1)")
  void worldSize(@Nullable String text) {
    put(SamplerParameter.WORLD_SIZE, text);
  }

  @Option(
      names = "--remainder",
      paramLabel = "R",
      description = "records of an epoch that do not divide by the ranks: drop (default), pad:"
          + " repeat some, or uneven: the first ranks have one more")
  void remainder(@Nullable String text) {
    put(SamplerParameter.REMAINDER, text);
  }

  @Option(names = "--from", paramLabel = "I", description = "first index: sequential")
  void from(@Nullable String text) {
    put(SamplerParameter.FROM, text);
  }

  @Option(names = "--to", paramLabel = "I", description = "index to end before: sequential")
  void to(@Nullable String text) {
    put(SamplerParameter.TO, text);
  }

  @Option(
      names = "--step",
      paramLabel = NUMBER,
      description = "distance between indices, negative to go backwards: sequential (default: 1)")
  void step(@Nullable String text) {
    put(SamplerParameter.STEP, text);
  }

  @Option(names = "--window", paramLabel = NUMBER, description = "records of the window: sliding")
  void window(@Nullable String text) {
    put(SamplerParameter.WINDOW, text);
  }

  @Option(
      names = "--stride",
      paramLabel = NUMBER,
      description = "records from the start of a window to the next: sliding")
  void stride(@Nullable String text) {
    put(SamplerParameter.STRIDE, text);
  }

  @Option(
      names = "--block-length",
      paramLabel = NUMBER,
      description = "records of a block: blockShuffle")
  void blockLength(@Nullable String text) {
    put(SamplerParameter.BLOCK_LENGTH, text);
  }

  @Option(
      names = "--mixed",
      paramLabel = NUMBER,
      description =
          "blocks that are shuffled as one, 0: their records keep their order:" + " blockShuffle")
  void mixed(@Nullable String text) {
    put(SamplerParameter.MIXED, text);
  }

  @Option(names = "--weights-field", paramLabel = "F", description = "field of weights: weighted")
  void weightsField(@Nullable String text) {
    put(SamplerParameter.WEIGHTS_FIELD, text);
  }

  @Option(
      names = "--labels-field",
      paramLabel = "F",
      description = "field of labels: stratified, balanced")
  void labelsField(@Nullable String text) {
    put(SamplerParameter.LABELS_FIELD, text);
  }

  private void put(SamplerParameter parameter, @Nullable String text) {
    if (text != null) {
      texts.put(parameter, text);
    }
  }

  private SamplerArguments given() {
    return new SamplerArguments(texts, SamplerParameter::flag);
  }

  /** Returns the sampler asked for. The records that its order groups are a batch of the feed. */
  SamplerSpec spec() {
    SamplerArguments given = given();
    if (!given.takes(SamplerParameter.BATCH_SIZE)) {
      return given.spec();
    }
    Map<SamplerParameter, String> all = new EnumMap<>(texts);
    all.put(SamplerParameter.BATCH_SIZE, Integer.toString(batchSize));
    return new SamplerArguments(all, SamplerParameter::flag).spec();
  }

  /** Returns a group of a dataset's records, in this order. */
  FeedGroup group(RecordDataset dataset) throws IOException {
    FeedGroup group = FeedGroup.of(dataset).batchSize(batchSize);
    return indices == null
        ? group.sampler(spec())
        : group.sampler(spec(), readIndices(indices, dataset.length()));
  }

  long epoch() {
    return given().number(SamplerParameter.EPOCH, 0);
  }

  long startPosition() {
    return given().number(SamplerParameter.START_POSITION, 0);
  }

  long rank() {
    return given().number(SamplerParameter.RANK, 0);
  }

  long worldSize() {
    return given().number(SamplerParameter.WORLD_SIZE, 1);
  }

  Remainder remainder() {
    return given().remainder();
  }

  private static long[] readIndices(Path file, long length) throws IOException {
    InputFiles.requireFile(file);
    List<String> lines = Files.readAllLines(file);
    long[] list = new long[lines.size()];
    for (int i = 0; i < list.length; i++) {
      try {
        list[i] = Long.parseLong(lines.get(i).strip());
      } catch (NumberFormatException e) {
        list[i] = -1;
      }
      if (list[i] < 0 || list[i] >= length) {
        String line = lines.get(i).substring(0, Math.min(40, lines.get(i).length()));
        throw new IllegalArgumentException("Cannot take '" + line + "' in line " + (i + 1) + " of "
            + file + " as an index: there are records 0 to " + (length - 1));
      }
    }
    return list;
  }
}
