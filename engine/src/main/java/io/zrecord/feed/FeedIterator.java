package io.zrecord.feed;

import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/** The batches of a feed as an iterator, which takes a batch when it is asked whether there is one. */
final class FeedIterator implements Iterator<FeedBatch> {
  private final Feed feed;
  private @Nullable FeedBatch ahead;

  FeedIterator(Feed feed) {
    this.feed = feed;
  }

  @Override
  public boolean hasNext() {
    if (ahead == null) {
      ahead = feed.next();
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
