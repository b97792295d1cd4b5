package io.zrecord.feed;

import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Holds what all loaders of a feed share.
 *
 * @param plan what is loaded
 * @param ahead what asks for bytes before they are needed, for each group
 * @param policy what to do with bad records
 * @param onStart run once by each thread
 * @param sinks a factory of sinks, one for each thread; null: none
 * @param release takes slots of batches that were closed
 */
record LoaderSettings(
    FeedPlan plan,
    List<ReadAhead> ahead,
    BadRecordPolicy policy,
    Runnable onStart,
    @Nullable Supplier<? extends BatchSink> sinks,
    FeedBatch.Release release) {

  @Nullable
  BatchSink newSink() {
    return sinks == null ? null : sinks.get();
  }

  FeedBatch newBatch(Slot slot) {
    return new FeedBatch(slot, plan, release);
  }
}
