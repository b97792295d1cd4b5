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
 * <p>All throw {@link IllegalArgumentException} for arguments out of range; the message names the
 * range and a remedy. Arrays are copied.
 */
public final class Samplers {
  private Samplers() {}

  /** Every index once, in rising order. */
  public static Sampler sequential(long length) {
    return sequential(0, length, 1);
  }

  /**
   * {@code from}, {@code from + step}, … before {@code to}; a negative step goes backwards. Empty
   * if {@code to} lies behind.
   */
  public static Sampler sequential(long from, long to, long step) {
    return new SequentialSampler(from, to, step);
  }

  /** A window that slides over the circle of all indices, without end. */
  public static SlidingSampler sliding(long length, long window, long stride) {
    return new SlidingSampler(length, window, stride);
  }

  /** Independent draws with replacement, without end. */
  public static Sampler random(long length, long seed) {
    return new RandomSampler(length, seed);
  }

  /**
   * Draws of {@code batchSize} different indices from all, each draw independent of the others,
   * without end.
   */
  public static Sampler global(long length, long batchSize, long seed) {
    return new GlobalSampler(length, batchSize, seed);
  }

  /** Every index once in an epoch, in random order. */
  public static ShuffleSampler shuffle(long length, long seed) {
    return new ShuffleSampler(length, seed);
  }

  /**
   * Every index once in an epoch, keeping reads local: blocks of {@code blockLength} indices are
   * shuffled, and all indices inside each run of {@code mixed} blocks of that order. 0 keeps the
   * order inside blocks, 1 shuffles each by itself, the number of blocks or more is a full shuffle.
   */
  public static Sampler blockShuffle(long length, long blockLength, long mixed, long seed) {
    Checks.length("length", length);
    Checks.inRange(
        "blockLength", blockLength, 1, Checks.MAX_LENGTH, "give the number of records in a chunk");
    return new BlockShuffleSampler(
        new FixedBlocks(length, Math.min(blockLength, Math.max(1, length))), mixed, seed);
  }

  /**
   * The same for blocks with given boundaries: 0, the first index of every other block, and the
   * length, strictly rising.
   */
  public static Sampler blockShuffle(long[] bounds, long mixed, long seed) {
    return new BlockShuffleSampler(new ListedBlocks(bounds.clone()), mixed, seed);
  }

  /**
   * Independent draws with replacement, record {@code i} with probability {@code weights[i] / sum},
   * without end. Weights are at least 0; one below 2⁻⁵³ of their sum may count as 0.
   */
  public static Sampler weighted(double[] weights, long seed) {
    return new WeightedSampler(weights, seed);
  }

  /**
   * Every record once in an epoch, every batch with the classes in the proportion of the whole, in
   * random order. Record {@code i} is of class {@code labels[i]}.
   */
  public static Sampler stratified(int[] labels, int batchSize, long seed) {
    return Mixes.stratified(labels, batchSize, seed);
  }

  /**
   * Batches with every class equally often, without end; each class is shuffled anew when it is
   * used up.
   */
  public static Sampler balanced(int[] labels, int batchSize, long seed) {
    return Mixes.balanced(labels, batchSize, seed);
  }

  /** These indices in this order; duplicates are allowed. */
  public static Sampler list(long... indices) {
    return new ListSampler(indices.clone(), sequential(indices.length));
  }

  /**
   * The indices at the places that another sampler gives, such as {@code shuffle(indices.length,
   * seed)}.
   */
  public static Sampler list(long[] indices, Sampler places) {
    return new ListSampler(indices.clone(), places);
  }

  /**
   * Several orders by weights, without end: each batch of {@code batchSize} positions has its part
   * of every source within about one, in random order. A source that is used up goes on with its
   * next epoch. Weights are rounded to parts in 2²⁰, at least one.
   */
  public static MixSampler mix(
      List<? extends Sampler> sources, double[] weights, int batchSize, long seed) {
    return Mixes.byWeights(List.copyOf(sources), weights.clone(), batchSize, seed);
  }

  /**
   * Several orders in proportion to their lengths: an epoch has one of each, and so has nearly
   * every part of it.
   */
  public static MixSampler mixInProportion(
      List<? extends Sampler> sources, int batchSize, long seed) {
    return Mixes.inProportion(List.copyOf(sources), batchSize, seed);
  }
}
