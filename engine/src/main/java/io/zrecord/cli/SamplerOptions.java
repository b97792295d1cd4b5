package io.zrecord.cli;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** Options that say in which order records come. */
final class SamplerOptions {
  @Option(
      names = "--sampler",
      paramLabel = "ORDER",
      description = "sequential; shuffle (default); block: a shuffle of blocks and in them; random:"
          + " draws with replacement; global: draws of --draw different records; sliding: a window"
          + " over the circle of records; weighted: draws by the weights in a field; stratified:"
          + " an epoch with the classes of a field spread evenly; balanced: every class equally"
          + " often")
  private Order order = Order.SHUFFLE;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "of the order; any number is good (default: ${DEFAULT-VALUE})")
  private long seed = 42;

  @Option(
      names = "--indices",
      paramLabel = "FILE",
      description = "text with a record's index in each line: only these, in the order that the"
          + " sampler gives to the lines; with sequential, in this order")
  private @Nullable Path indices;

  @Option(
      names = "--by",
      paramLabel = "F",
      description = "field of the weights or of the classes: weighted, stratified, balanced")
  private @Nullable String by;

  @Option(names = "--block-length", paramLabel = "N", description = "records of a block: block")
  private @Nullable Long blockLength;

  @Option(
      names = "--mixed-blocks",
      paramLabel = "N",
      description = "blocks that are shuffled as one, 0: their records keep their order: block"
          + " (default: 1)")
  private @Nullable Long mixedBlocks;

  @Option(names = "--window", paramLabel = "N", description = "records of the window: sliding")
  private @Nullable Long window;

  @Option(names = "--stride", paramLabel = "N", description = "from window to window: sliding")
  private @Nullable Long stride;

  @Option(names = "--draw", paramLabel = "N", description = "records of a draw: global")
  private @Nullable Long draw;

  @Option(
      names = "--epoch-length",
      paramLabel = "N",
      description = "records of an epoch, for orders that do not end; others are cut")
  private @Nullable Long epochLength;

  /** Orders by the names of the command line. */
  private enum Order {
    SEQUENTIAL,
    SHUFFLE,
    BLOCK,
    RANDOM,
    GLOBAL,
    SLIDING,
    WEIGHTED,
    STRATIFIED,
    BALANCED
  }

  long seed() {
    return seed;
  }

  String name() {
    return order.name().toLowerCase(java.util.Locale.ROOT);
  }

  /**
   * The order of a dataset's records.
   *
   * @param batchSize records of a batch, in which stratified and balanced classes are even
   */
  Sampler sampler(RecordDataset dataset, int batchSize) throws IOException {
    refuseOthers();
    Path file = indices;
    Sampler sampler;
    if (file == null) {
      sampler =
          order(dataset, batchSize, dataset.length(), Function.identity(), Function.identity());
    } else {
      long[] list = readIndices(file, dataset.length());
      sampler = Samplers.list(
          list,
          order(
              dataset,
              batchSize,
              list.length,
              all ->
                  java.util.Arrays.stream(list).mapToDouble(i -> all[(int) i]).toArray(),
              all -> java.util.Arrays.stream(list).mapToInt(i -> all[(int) i]).toArray()));
    }
    return epochLength == null ? sampler : sampler.take(epochLength);
  }

  private Sampler order(
      RecordDataset dataset,
      int batchSize,
      long length,
      Function<double[], double[]> weightsOf,
      Function<int[], int[]> labelsOf) {
    return switch (order) {
      case SEQUENTIAL -> Samplers.sequential(length);
      case SHUFFLE -> Samplers.shuffle(length, seed);
      case BLOCK ->
        Samplers.blockShuffle(
            length,
            required("--block-length", blockLength),
            mixedBlocks == null ? 1 : mixedBlocks,
            seed);
      case RANDOM -> Samplers.random(length, seed);
      case GLOBAL -> Samplers.global(length, required("--draw", draw), seed);
      case SLIDING ->
        Samplers.sliding(length, required("--window", window), required("--stride", stride));
      case WEIGHTED ->
        Samplers.weighted(
            weightsOf.apply(ScalarField.weights(dataset, required("--by", by))), seed);
      case STRATIFIED ->
        Samplers.stratified(
            labelsOf.apply(ScalarField.labels(dataset, required("--by", by))), batchSize, seed);
      case BALANCED ->
        Samplers.balanced(
            labelsOf.apply(ScalarField.labels(dataset, required("--by", by))), batchSize, seed);
    };
  }

  private <T> T required(String option, @Nullable T value) {
    if (value == null) {
      throw new IllegalArgumentException("--sampler " + name() + " needs " + option);
    }
    return value;
  }

  /** An option that has no effect would be a silent mistake. */
  private void refuseOthers() {
    List<String> others = new ArrayList<>();
    Set<Order> byField = EnumSet.of(Order.WEIGHTED, Order.STRATIFIED, Order.BALANCED);
    refuse(others, "--by", by, byField);
    refuse(others, "--block-length", blockLength, EnumSet.of(Order.BLOCK));
    refuse(others, "--mixed-blocks", mixedBlocks, EnumSet.of(Order.BLOCK));
    refuse(others, "--window", window, EnumSet.of(Order.SLIDING));
    refuse(others, "--stride", stride, EnumSet.of(Order.SLIDING));
    refuse(others, "--draw", draw, EnumSet.of(Order.GLOBAL));
    if (!others.isEmpty()) {
      throw new IllegalArgumentException("--sampler " + name() + " does not take "
          + String.join(", ", others) + "; leave it out, or choose another sampler");
    }
  }

  private void refuse(
      List<String> others, String option, @Nullable Object value, Set<Order> orders) {
    if (value != null && !orders.contains(order)) {
      others.add(option);
    }
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
