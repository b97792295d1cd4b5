package io.zrecord.feed;

/**
 * Shows {@link FeedStatistics} over JMX, as {@code io.zrecord:type=Feed,name=…}: equal numbers
 * under equal names.
 */
public interface FeedMXBean {
  long getBatches();

  long getRecords();

  long getBytes();

  double getReadyRatio();

  long getDroppedBatches();

  long getBadRecords();

  long getIdleNanos();

  long getSampleNanos();

  long getReadNanos();

  long getDecodeNanos();

  long getTransformNanos();

  long getPlaceNanos();

  long getWaitNanos();

  long getRequests();

  long getRequestedBytes();

  long getRequestNanos();
}
