package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A {@link FeedGroup} as it is fed, with its share of the order. Immutable. */
final class GroupPlan {
  private final Definition definition;
  private final Ranks ranks;
  private final long resumedBase;
  private final Sampler share;
  private final Sampler resumedShare;
  private final String digest;

  /**
   * What a group was set up to be.
   *
   * @param name of the group
   * @param dataset that it reads
   * @param fields stored ones that are read
   * @param outputs what the transform makes
   * @param transform a factory of transforms, one for each thread; null: none
   * @param collations of fields that are not just stacked or ragged
   * @param batchSize records of a batch
   * @param keepsRemainder whether a last batch that is not full is delivered
   * @param order the whole order of all ranks
   * @param orderName what the order is called in states and messages
   * @param seed of the order
   */
  record Definition(
      String name,
      RecordDataset dataset,
      List<FieldSpec> fields,
      List<FieldSpec> outputs,
      @Nullable Supplier<? extends RecordTransform> transform,
      Map<String, Collation> collations,
      int batchSize,
      boolean keepsRemainder,
      Sampler order,
      String orderName,
      long seed) {}

  /**
   * @param resumedBase positions of the whole order that were consumed before in the epoch that is
   *     resumed
   */
  GroupPlan(Definition definition, Ranks ranks, long resumedBase) {
    this.definition = definition;
    this.ranks = ranks;
    this.resumedBase = resumedBase;
    this.share = ranks.share(definition.order(), 0);
    this.digest = OrderDigest.of(definition.order());
    this.resumedShare = resumedBase == 0 ? share : ranks.share(definition.order(), resumedBase);
  }

  String name() {
    return definition.name();
  }

  RecordDataset dataset() {
    return definition.dataset();
  }

  List<FieldSpec> fields() {
    return definition.fields();
  }

  List<FieldSpec> outputs() {
    return definition.outputs();
  }

  @Nullable
  Supplier<? extends RecordTransform> transform() {
    return definition.transform();
  }

  Collation collation(FieldSpec field) {
    return definition.collations().getOrDefault(field.name(), Collation.ragged());
  }

  int batchSize() {
    return definition.batchSize();
  }

  long seed() {
    return definition.seed();
  }

  String orderName() {
    return definition.orderName();
  }

  /** What tells the order from others. */
  String digest() {
    return digest;
  }

  Sampler order() {
    return definition.order();
  }

  /** This rank's positions of an epoch that was resumed at a base, or from its beginning for 0. */
  Sampler share(long base) {
    if (base != 0 && base != resumedBase) {
      throw new IllegalStateException("Base " + base + " is not " + resumedBase);
    }
    return base == 0 ? share : resumedShare;
  }

  /** Records of the next batch from a position of this rank's share; 0 if there is none. */
  int nextCount(long base, long position) {
    long left = share(base).length() - position;
    return left >= batchSize() || definition.keepsRemainder()
        ? (int) Math.min(batchSize(), left)
        : 0;
  }

  /** Batches of a whole epoch. */
  long batchesPerEpoch() {
    if (share.length() == Sampler.ENDLESS) {
      return Sampler.ENDLESS;
    }
    long whole = share.length() / batchSize();
    return definition.keepsRemainder() && share.length() % batchSize() > 0 ? whole + 1 : whole;
  }

  /** How far all ranks together have come. */
  long globalPosition(long base, long position) {
    return ranks.globalPosition(order(), base, position);
  }

  /** Where a record of this rank stands in the whole order. */
  long globalPositionOf(long base, long position) {
    return base + position * ranks.worldSize() + ranks.rank();
  }

  Ranks ranks() {
    return ranks;
  }

  String describe() {
    return name() + ": " + order().length() + " by " + batchSize()
        + (definition.keepsRemainder() ? "" : " without remainder");
  }
}
