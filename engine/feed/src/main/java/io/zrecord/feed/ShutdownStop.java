package io.zrecord.feed;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops a feed when the process is asked to end, and logs how far its consumer came. */
final class ShutdownStop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShutdownStop.class);

  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook;

  private final Object feed;
  private final Runnable interrupt;
  private final Supplier<FeedState> reached;

  private ShutdownStop(
      Object feed, Runnable interrupt, Supplier<FeedState> reached, Duration grace) {
    this.feed = feed;
    this.interrupt = interrupt;
    this.reached = reached;
    this.hook = new Thread(() -> stop(grace), "zrecord-feed-shutdown");
  }

  /**
   * Registers a feed with the process.
   *
   * @param feed names the feed in the log
   * @param interrupt ends the flow of the feed
   * @param reached the state after the batches that the consumer has closed
   * @param grace how long the process waits for the consumer
   */
  static ShutdownStop of(
      Object feed, Runnable interrupt, Supplier<FeedState> reached, Duration grace) {
    ShutdownStop stop = new ShutdownStop(feed, interrupt, reached, grace);
    Runtime.getRuntime().addShutdownHook(stop.hook);
    return stop;
  }

  private void stop(Duration grace) {
    interrupt.run();
    boolean wasClosed = false;
    try {
      wasClosed = closed.await(grace.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    LOG.info(
        "The feed of {} was stopped{}; it goes on from {}",
        feed,
        wasClosed ? "" : ", and its consumer did not close it in " + grace.toMillis() + " ms",
        reached.get().toJson());
  }

  @Override
  public void close() {
    closed.countDown();
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      LOG.debug("The process ends already", e);
    }
  }
}
