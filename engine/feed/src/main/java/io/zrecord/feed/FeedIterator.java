package io.zrecord.feed;

import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Iterates over the batches of a feed; {@code hasNext} takes the next batch from the feed. */
final class FeedIterator implements Iterator<FeedBatch> {
  private final Supplier<@Nullable FeedBatch> source;
  private final Object feed;
  private @Nullable FeedBatch ahead;

  /**
   * Iterates over the batches of a source.
   *
   * @param source returns null after the last batch
   * @param feed names the feed in messages
   */
  FeedIterator(Supplier<@Nullable FeedBatch> source, Object feed) {
    this.source = source;
    this.feed = feed;
  }

  @Override
  public boolean hasNext() {
    if (ahead == null) {
      ahead = source.get();
    }
    return ahead != null;
  }

  @Override
  public FeedBatch next() {
    if (!hasNext() || ahead == null) {
      throw new NoSuchElementException("The feed of " + feed + " has ended");
    }
    FeedBatch batch = ahead;
    ahead = null;
    return batch;
  }
}
