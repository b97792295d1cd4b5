package io.zrecord.storage.s3;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** Makes pools of threads that end when they are idle, and do not keep the process alive. */
final class DaemonThreads {
  private DaemonThreads() {}

  /** Makes a pool that starts a thread where none is idle. Tasks bound themselves. */
  static ExecutorService named(String name) {
    return Executors.newCachedThreadPool(task -> {
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      return thread;
    });
  }
}
