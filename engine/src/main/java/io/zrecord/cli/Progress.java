package io.zrecord.cli;

import java.io.PrintWriter;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;

/** Shows how far a command is: a bar on a terminal, elsewhere a line now and then, or nothing. Belongs to one thread. */
interface Progress extends AutoCloseable {
  void at(long doneBytes, long totalBytes);

  /** Whether it draws over lines of the terminal, so that others must not print until it is closed. */
  default boolean isDrawing() {
    return false;
  }

  /** Ends; closing again has no effect. */
  @Override
  void close();

  /**
   * Begins to show.
   *
   * @param task what is done, in a word
   */
  static Progress of(String task, PrintWriter err, boolean isWanted) {
    if (!isWanted) {
      return new Silent();
    }
    return Terminal.isStandardError() ? new Bar(task, err) : new Lines(task, err);
  }

  /** Shows nothing. */
  record Silent() implements Progress {
    @Override
    public void at(long doneBytes, long totalBytes) {}

    @Override
    public void close() {}
  }

  /** A bar on the standard error. */
  final class Bar implements Progress {
    private static final int UPDATE_MILLIS = 200;
    private static final int COLUMNS = 79;

    private final PrintWriter err;
    private final ProgressBar bar;
    private boolean isClosed;

    Bar(String task, PrintWriter err) {
      this.err = err;
      bar = new ProgressBarBuilder()
          .setTaskName(task)
          .setInitialMax(0)
          .setUnit(" MiB", 1 << 20)
          .setUpdateIntervalMillis(UPDATE_MILLIS)
          // A width that is given needs no library that asks the terminal for its own.
          .setConsumer(new DelegatingProgressBarConsumer(this::draw, COLUMNS))
          .build();
    }

    @Override
    public void at(long doneBytes, long totalBytes) {
      bar.maxHint(totalBytes).stepTo(doneBytes);
    }

    private void draw(String line) {
      err.print('\r' + line);
      err.flush();
    }

    @Override
    public boolean isDrawing() {
      return !isClosed;
    }

    @Override
    public void close() {
      if (!isClosed) {
        isClosed = true;
        bar.close();
        err.println();
        err.flush();
      }
    }
  }

  /** Lines, far apart. */
  final class Lines implements Progress {
    private static final long PAUSE_NANOS = 10_000_000_000L;

    private final String task;
    private final PrintWriter err;
    private long lastNanos = System.nanoTime();

    Lines(String task, PrintWriter err) {
      this.task = task;
      this.err = err;
    }

    @Override
    public void at(long doneBytes, long totalBytes) {
      long now = System.nanoTime();
      if (now - lastNanos >= PAUSE_NANOS) {
        lastNanos = now;
        err.println(task + ": " + (doneBytes >> 20) + " of " + (totalBytes >> 20) + " MiB");
        err.flush();
      }
    }

    @Override
    public void close() {}
  }
}
