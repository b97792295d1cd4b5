package io.zrecord.sampler;

import java.util.List;

/**
 * Makes samplers. Lengths are numbers of records, at most 2⁶²; any seed is good. Seeds, and epochs
 * of one seed, give unrelated orders.
 *
 * <pre>{@code
 * Sampler order = Samplers.shuffle(dataset.length(), 42).share(rank, worldSize, Remainder.DROP);
 * long[] batch = new long[256];
 * order.indices(epoch, position, batch, 0, batch.length);
 * }</pre>
 *
 * <p>All methods throw {@link IllegalArgumentException} for arguments out of range; the message
 * names the range and a remedy. Arrays are copied.
 */
public final class Samplers {
  private Samplers() {}

  /** Gives every index once, in rising order. */
  public static Sampler sequential(long length) {
    return sequential(0, length, 1);
  }

  /**
   * Gives {@code from}, {@code from + step}, … before {@code to}; a negative step goes backwards.
   * Gives nothing if {@code to} is not after {@code from} in that direction.
   */
  public static Sampler sequential(long from, long to, long step) {
    return new SequentialSampler(from, to, step);
  }

  /** Slides a window over the circle of all indices, without end. */
  public static SlidingSampler sliding(long length, long window, long stride) {
    return new SlidingSampler(length, window, stride);
  }

  /** Draws with replacement, each draw independent of the others, without end. */
  public static Sampler random(long length, long seed) {
    return new RandomSampler(length, seed);
  }

  /**
   * Draws sets of {@code batchSize} different indices from all, each set independent of the others,
   * without end.
   */
  public static Sampler global(long length, long batchSize, long seed) {
    return new GlobalSampler(length, batchSize, seed);
  }

  /** Gives every index once in an epoch, in random order. */
  public static ShuffleSampler shuffle(long length, long seed) {
    return new ShuffleSampler(length, seed);
  }

  /**
   * Gives every index once in an epoch, and keeps reads local. Blocks of {@code blockLength}
   * indices are shuffled, and so are all indices inside each run of {@code mixed} blocks of that
   * order. With {@code mixed} 0 the order inside blocks stays, with 1 each block is shuffled by
   * itself, and with the number of blocks or more the shuffle is full.
   */
  public static Sampler blockShuffle(long length, long blockLength, long mixed, long seed) {
    Checks.length("length", length);
    Checks.inRange(
        "blockLength", blockLength, 1, Checks.MAX_LENGTH, "give the number of records in a chunk");
    return new BlockShuffleSampler(
        new FixedBlocks(length, Math.min(blockLength, Math.max(1, length))), mixed, seed);
  }

  /**
   * Gives every index once in an epoch, as {@link #blockShuffle(long, long, long, long)} does, with
   * blocks of given boundaries.
   *
   * @param bounds 0, the first index of every other block, and the length, strictly rising
   */
  public static Sampler blockShuffle(long[] bounds, long mixed, long seed) {
    return new BlockShuffleSampler(new ListedBlocks(bounds.clone()), mixed, seed);
  }

  /**
   * Draws with replacement, record {@code i} with probability {@code weights[i] / sum}, each draw
   * independent of the others, without end. Weights are at least 0; a weight below 2⁻⁵³ of their
   * sum may count as 0.
   */
  public static Sampler weighted(double[] weights, long seed) {
    return new WeightedSampler(weights, seed);
  }

  /**
   * Gives every record once in an epoch. Every batch has the classes in the proportion of the
   * whole, in random order. Record {@code i} is of class {@code labels[i]}.
   */
  public static Sampler stratified(int[] labels, int batchSize, long seed) {
    return Mixes.stratified(labels, batchSize, seed);
  }

  /**
   * Gives batches with every class equally often, without end. Each class is shuffled again when it
   * is used up. Record {@code i} is of class {@code labels[i]}.
   */
  public static Sampler balanced(int[] labels, int batchSize, long seed) {
    return Mixes.balanced(labels, batchSize, seed);
  }

  /** Gives these indices in this order; duplicates are allowed. */
  public static Sampler list(long... indices) {
    return new ListSampler(indices.clone(), sequential(indices.length));
  }

  /**
   * Gives the indices at the places that another sampler gives, such as
   * {@code shuffle(indices.length, seed)}.
   */
  public static Sampler list(long[] indices, Sampler places) {
    return new ListSampler(indices.clone(), places);
  }

  /**
   * Mixes several orders by weights, without end. Each batch of {@code batchSize} positions has its
   * part of every source within about one, in random order. A source that is used up goes on with
   * its next epoch. Weights are rounded to parts in 2²⁰, at least one.
   */
  public static MixSampler mix(
      List<? extends Sampler> sources, double[] weights, int batchSize, long seed) {
    return Mixes.byWeights(List.copyOf(sources), weights.clone(), batchSize, seed);
  }

  /**
   * Mixes several orders in proportion to their lengths. An epoch has one epoch of each order, and
   * nearly every part of it has the orders in this proportion.
   */
  public static MixSampler mixInProportion(
      List<? extends Sampler> sources, int batchSize, long seed) {
    return Mixes.inProportion(List.copyOf(sources), batchSize, seed);
  }
}
