package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.feed.spec.SamplerSpec;
import io.zrecord.sampler.Sampler;
import io.zrecord.table.TableSnapshot;

/**
 * The samplers that tasks of this process use. Weights or labels are read once for each version of
 * a dataset, not for every task, epoch or rank. Samplers are kept while there is memory.
 * Thread-safe; a thread that asks for a sampler while it is being made waits for it.
 */
public final class OpenSamplers {
  private static final SoftValues<Key, Opened> OPENED = new SoftValues<>();

  private OpenSamplers() {}

  /** What one storage has may be shared by whoever reaches it in the same way only. */
  private record Key(Object storage, SnapshotId dataset, SamplerSpec spec) {}

  /**
   * A version and a sampler of all its records.
   *
   * @param snapshot the version
   * @param sampler sampler of the version's indices, not cut
   */
  public record Opened(TableSnapshot snapshot, Sampler sampler) {}

  /** Opens a version and its sampler. The sampler is not cut, so epochs of any length share it. */
  public static Opened of(SnapshotId dataset, SamplerSpec spec) {
    Key key = new Key(dataset.location().storage().identity(), dataset, spec.withoutNumSamples());
    return OPENED.get(key, () -> open(dataset, spec));
  }

  private static Opened open(SnapshotId id, SamplerSpec spec) {
    TableSnapshot snapshot = id.open();
    try (RecordDataset dataset =
        RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults())) {
      return new Opened(snapshot, spec.uncut(dataset));
    }
  }
}
