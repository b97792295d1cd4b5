package io.zrecord.cli.console;

import java.io.PrintWriter;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;

/**
 * Shows the progress of a command: a bar on a terminal, otherwise an occasional line, or nothing.
 * Belongs to one thread.
 */
public interface Progress extends AutoCloseable {
  void at(long doneBytes, long totalBytes);

  /**
   * Tells whether the progress is drawn over lines of the terminal, so that nothing else may be
   * printed until it is closed.
   */
  default boolean isDrawing() {
    return false;
  }

  /** Ends the display. Closing again has no effect. */
  @Override
  void close();

  /**
   * Begins to show progress.
   *
   * @param task the task in a word
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
          // A fixed width needs no library that asks the terminal for its width.
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

  /** Prints lines, far apart. */
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
