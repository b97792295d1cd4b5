package io.zrecord.feed;

import io.zrecord.RecordDataset;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.sampler.ShareSampler;
import io.zrecord.schema.FieldSpec;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Says what batches of a feed are made of: a dataset, its fields, an order and a batch size. One
 * thread sets up a group; later calls do not change a feed that has started. The caller closes the
 * dataset after the feed.
 */
public final class FeedGroup {
  private static final int MAX_BATCH = 1 << 24;

  private final RecordDataset dataset;
  private final Map<String, Collation> collations = new HashMap<>();
  private String name;
  private List<FieldSpec> fields;
  private List<FieldSpec> outputs = List.of();
  private @Nullable Supplier<? extends RecordTransform> transform;
  private int batchSize = 256;
  private boolean keepsRemainder = true;
  private Sampler order;
  private String orderName;
  private long seed = SamplerSpec.DEFAULT_SEED;

  private FeedGroup(RecordDataset dataset) {
    this.dataset = dataset;
    this.name = "train";
    this.fields = dataset.schema().fields();
    this.order = Samplers.shuffle(dataset.length(), SamplerSpec.DEFAULT_SEED);
    this.orderName = order.toString();
  }

  /**
   * Takes all fields of a dataset, and all records in an order shuffled with seed 42, in batches of
   * 256.
   */
  public static FeedGroup of(RecordDataset dataset) {
    return new FeedGroup(dataset);
  }

  /**
   * Names the group in batches and states; default {@code train}. Groups of a feed have different
   * names.
   */
  public FeedGroup name(String newName) {
    name = newName;
    return this;
  }

  /**
   * Chooses the fields to read; default all.
   *
   * @throws IllegalArgumentException if there is no such field, or a field is named twice
   */
  public FeedGroup fields(String... names) {
    Set<String> once = new LinkedHashSet<>(List.of(names));
    if (once.size() != names.length) {
      throw new IllegalArgumentException(
          "Fields " + List.of(names) + " are not all different; name each once");
    }
    fields = once.stream()
        .map(field -> dataset.schema().fields().get(dataset.schema().ordinal(field)))
        .toList();
    return this;
  }

  /** Sets the number of records of a batch, 1 to 2²⁴; default 256. */
  public FeedGroup batchSize(int records) {
    batchSize = Bounds.within("batchSize", records, 1, MAX_BATCH);
    return this;
  }

  /**
   * Sets the order of all ranks together.
   *
   * @param newOrder an order that is not shared yet; {@link FeedBuilder#rank} tells the feed its
   *     rank
   * @param newSeed the seed that the order was made with. It is part of the state, and the seeds of
   *     records are made from it
   * @throws IllegalArgumentException if the order gives indices that the dataset does not have, or
   *     is already a share
   */
  public FeedGroup sampler(Sampler newOrder, long newSeed) {
    if (newOrder.bound() > dataset.length()) {
      throw new IllegalArgumentException("Cannot feed " + dataset + " by " + newOrder
          + ": it gives indices up to " + (newOrder.bound() - 1) + ", and there are "
          + dataset.length() + " records; make it for that length");
    }
    if (newOrder instanceof ShareSampler) {
      throw new IllegalArgumentException("Cannot feed by " + newOrder
          + ": give the order of all ranks, and say rank(…) of the feed, so that it can be resumed with"
          + " another number of them");
    }
    order = newOrder;
    orderName = newOrder.toString();
    seed = newSeed;
    return this;
  }

  /**
   * Sets the order of all ranks together to that of a sampler by name.
   *
   * @throws IllegalArgumentException if the sampler does not fit the dataset
   */
  public FeedGroup sampler(SamplerSpec spec) {
    sampler(spec.sampler(dataset), spec.seed());
    orderName = spec.toString();
    return this;
  }

  /**
   * Sets the order to that of a sampler by name over some records.
   *
   * @param indices of the records; duplicates are allowed
   * @throws IllegalArgumentException if the sampler or an index does not fit the dataset
   */
  public FeedGroup sampler(SamplerSpec spec, long[] indices) {
    sampler(spec.sampler(dataset, indices), spec.seed());
    orderName = spec + " of " + indices.length + " indices";
    return this;
  }

  /**
   * Leaves out the last records of an epoch if they do not fill a batch; without this call they are
   * a shorter batch.
   */
  public FeedGroup dropRemainder() {
    keepsRemainder = false;
    return this;
  }

  /**
   * Says how values of a field that differ in length are collated; default
   * {@link Collation#ragged}.
   */
  public FeedGroup collate(String field, Collation collation) {
    collations.put(field, collation);
    return this;
  }

  /**
   * Makes other values out of those that are read.
   *
   * @param newOutputs fields that the transform makes; an output with the name of a field that is
   *     read takes the place of that field in the batch
   * @param factory called once by each loader thread
   */
  public FeedGroup transform(
      List<FieldSpec> newOutputs, Supplier<? extends RecordTransform> factory) {
    long names = newOutputs.stream().map(FieldSpec::name).distinct().count();
    if (names < newOutputs.size() || newOutputs.isEmpty()) {
      throw new IllegalArgumentException("A transform with outputs "
          + newOutputs.stream().map(FieldSpec::name).toList()
          + " is not possible: name at least one, and each once");
    }
    outputs = List.copyOf(newOutputs);
    transform = factory;
    return this;
  }

  GroupPlan.Definition define() {
    for (Map.Entry<String, Collation> collation : collations.entrySet()) {
      requireCollatable(delivered(collation.getKey()), collation.getValue());
    }
    return new GroupPlan.Definition(
        name,
        dataset,
        fields,
        outputs,
        transform,
        Map.copyOf(collations),
        batchSize,
        keepsRemainder,
        order,
        orderName,
        seed);
  }

  private FieldSpec delivered(String field) {
    return java.util.stream.Stream.concat(outputs.stream(), fields.stream())
        .filter(spec -> spec.name().equals(field))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("Cannot collate field '" + field
            + "' of group '" + name + "': it is not one of its fields "
            + fields.stream().map(FieldSpec::name).toList()));
  }

  private static void requireCollatable(FieldSpec field, Collation collation) {
    if (collation.isPadded() && field.type().tree() != null) {
      throw new IllegalArgumentException("Cannot pad field '" + field.name() + "' of type "
          + field.type() + ": nested values have no padding; leave the collation out");
    }
    if (collation.isPadded() && field.valueWidthBytes().isPresent()) {
      throw new IllegalArgumentException("Cannot pad field '" + field.name() + "' of "
          + field.type() + field.shape() + ": its values have one length; leave the collation out");
    }
    if (collation.isPadded() && !field.shape().isScalar() && field.shape().elementsPerStep() == 0) {
      throw new IllegalArgumentException("Cannot pad field '" + field.name() + "' of shape "
          + field.shape() + ": its values have no elements");
    }
    Padding.requirePossible(field, collation);
  }
}
