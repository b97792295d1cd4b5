package io.zrecord.feed;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Stops a feed when the process is asked to end, and says how far its consumer came (seed row H30). */
final class ShutdownStop implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ShutdownStop.class);

  private final CountDownLatch closed = new CountDownLatch(1);
  private final Thread hook;

  private ShutdownStop(Feed feed, Duration grace) {
    this.hook = new Thread(() -> stop(feed, grace), "zrecord-feed-shutdown");
  }

  static ShutdownStop of(Feed feed, Duration grace) {
    ShutdownStop stop = new ShutdownStop(feed, grace);
    Runtime.getRuntime().addShutdownHook(stop.hook);
    return stop;
  }

  private void stop(Feed feed, Duration grace) {
    feed.interrupt();
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
        feed.lastCompleted().toJson());
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
