package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Sampler;
import io.zrecord.schema.FieldSpec;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Prepares a {@link FeedGroup} for a feed, with this rank's share of the order. Immutable. */
final class GroupPlan {
  private final Definition definition;
  private final Ranks ranks;
  private final long resumedBase;
  private final Sampler share;
  private final Sampler resumedShare;
  private final String digest;

  /**
   * Says what a group was set up to be.
   *
   * @param name the name of the group
   * @param dataset the dataset that the group reads
   * @param fields the stored fields that are read
   * @param outputs the fields that the transform makes
   * @param transform a factory of transforms, one for each thread; null: none
   * @param collations collations of fields that are not just stacked or ragged
   * @param batchSize number of records of a batch
   * @param keepsRemainder whether a last batch that is not full is delivered
   * @param order the whole order of all ranks
   * @param orderName what the order is called in states and messages
   * @param seed the seed of the order
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
   * @param resumedBase number of positions of the whole order that were consumed before, in the
   *     epoch that is resumed
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

  /** Returns the digits that tell the order from others. */
  String digest() {
    return digest;
  }

  Sampler order() {
    return definition.order();
  }

  /** Returns this rank's positions of an epoch that was resumed at a base; 0 is the beginning. */
  Sampler share(long base) {
    if (base != 0 && base != resumedBase) {
      throw new IllegalStateException("Base " + base + " is not " + resumedBase);
    }
    return base == 0 ? share : resumedShare;
  }

  /**
   * Returns the records of the next batch from a position of this rank's share; 0 if there is none.
   */
  int nextCount(long base, long position) {
    long left = share(base).length() - position;
    return left >= batchSize() || definition.keepsRemainder()
        ? (int) Math.min(batchSize(), left)
        : 0;
  }

  /** Returns the batches of a whole epoch; {@link Sampler#ENDLESS} if it does not end. */
  long batchesPerEpoch() {
    return batchesFrom(0, 0);
  }

  /** Returns the batches from a position of this rank's share on, or {@link Sampler#ENDLESS}. */
  long batchesFrom(long base, long position) {
    long length = share(base).length();
    if (length == Sampler.ENDLESS) {
      return Sampler.ENDLESS;
    }
    long whole = (length - position) / batchSize();
    boolean hasRemainder = (length - position) % batchSize() > 0;
    return definition.keepsRemainder() && hasRemainder ? whole + 1 : whole;
  }

  /** Returns how far all ranks together have come. */
  long globalPosition(long base, long position) {
    return ranks.globalPosition(order(), base, position);
  }

  /** Returns the position of a record of this rank in the whole order. */
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
