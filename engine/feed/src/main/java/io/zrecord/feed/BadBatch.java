package io.zrecord.feed;

import java.util.List;

/**
 * Names the bad records of one batch of a sampler, for {@link FeedBuilder#onBadBatch}.
 *
 * @param records the records that could not be delivered; at least one
 * @param isDropped whether the whole batch is left out
 */
public record BadBatch(List<BadRecord> records, boolean isDropped) {
  public BadBatch {
    records = List.copyOf(records);
  }
}
