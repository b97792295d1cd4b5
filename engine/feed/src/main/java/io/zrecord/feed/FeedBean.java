package io.zrecord.feed;

import java.lang.management.ManagementFactory;
import java.util.function.Supplier;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.management.StandardMBean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Shows statistics over JMX until it is closed. */
final class FeedBean extends StandardMBean implements FeedMXBean, AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(FeedBean.class);

  private final Supplier<FeedStatistics> statistics;
  private final ObjectName name;

  /** @throws IllegalArgumentException if the name is in use */
  FeedBean(String name, Supplier<FeedStatistics> statistics) {
    super(FeedMXBean.class, true);
    this.statistics = statistics;
    try {
      this.name = new ObjectName("io.zrecord:type=Feed,name=" + ObjectName.quote(name));
      ManagementFactory.getPlatformMBeanServer().registerMBean(this, this.name);
    } catch (JMException e) {
      throw new IllegalArgumentException(
          "Cannot publish the statistics of a feed as '" + name
              + "'; choose a name that no other feed of this process has",
          e);
    }
  }

  @Override
  public void close() {
    try {
      ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
    } catch (JMException e) {
      LOG.debug("Somebody else removed {}", name, e);
    }
  }

  @Override
  public long getBatches() {
    return statistics.get().batches();
  }

  @Override
  public long getRecords() {
    return statistics.get().records();
  }

  @Override
  public long getBytes() {
    return statistics.get().bytes();
  }

  @Override
  public double getReadyRatio() {
    return statistics.get().readyRatio();
  }

  @Override
  public long getDroppedBatches() {
    return statistics.get().droppedBatches();
  }

  @Override
  public long getBadRecords() {
    return statistics.get().badRecords();
  }

  @Override
  public long getIdleNanos() {
    return statistics.get().idleNanos();
  }

  @Override
  public long getSampleNanos() {
    return statistics.get().sampleNanos();
  }

  @Override
  public long getReadNanos() {
    return statistics.get().readNanos();
  }

  @Override
  public long getDecodeNanos() {
    return statistics.get().decodeNanos();
  }

  @Override
  public long getTransformNanos() {
    return statistics.get().transformNanos();
  }

  @Override
  public long getPlaceNanos() {
    return statistics.get().placeNanos();
  }

  @Override
  public long getWaitNanos() {
    return statistics.get().waitNanos();
  }

  @Override
  public long getRequests() {
    return statistics.get().requests();
  }

  @Override
  public long getRequestedBytes() {
    return statistics.get().requestedBytes();
  }

  @Override
  public long getRequestNanos() {
    return statistics.get().requestNanos();
  }
}
