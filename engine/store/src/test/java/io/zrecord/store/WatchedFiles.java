package io.zrecord.store;

import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/** Files that tell a test of calls. The test may stop the caller there, or end it. */
final class WatchedFiles extends ForwardingFiles {
  /** Takes calls, each before it is made or, with a name in the past tense, after. */
  interface Watch {
    void at(String call, String name);
  }

  /** Stops a thread at its first call of a kind after {@link #set}. */
  static final class Stop implements Watch {
    private final String call;
    private final String prefix;
    private final Semaphore isStopped = new Semaphore(0);
    private final Semaphore goesOn = new Semaphore(0);
    private volatile boolean isSet;

    Stop(String call, String prefix) {
      this.call = call;
      this.prefix = prefix;
    }

    Stop set() {
      isSet = true;
      return this;
    }

    @Override
    public void at(String name, String file) {
      if (isSet && name.equals(call) && file.startsWith(prefix)) {
        isSet = false;
        isStopped.release();
        goesOn.acquireUninterruptibly();
      }
    }

    void awaitStop() {
      isStopped.acquireUninterruptibly();
    }

    void goOn() {
      goesOn.release();
    }

    /** Ends the wait for a stop to which the thread did not come. */
    void endWait() {
      isStopped.release();
    }

    /** Tells whether the thread did not come to the stop. */
    boolean isUnused() {
      return isSet;
    }
  }

  /** Ends a process, as far as its files are concerned. */
  static final class KilledException extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final Watch watch;

  WatchedFiles(MutableFiles files, Watch watch) {
    super(files);
    this.watch = watch;
  }

  @Override
  public boolean exists(String name) {
    watch.at("look", name);
    boolean exists = super.exists(name);
    watch.at("looked", name);
    return exists;
  }

  @Override
  public List<String> list(String place) {
    List<String> names = super.list(place);
    watch.at("listed", place);
    return names;
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    watch.at("open", name);
    return watched(name, super.open(name, writable));
  }

  @Override
  public MutableFile create(String name) {
    MutableFile file = super.create(name);
    watch.at("created", name);
    return watched(name, file);
  }

  private MutableFile watched(String name, MutableFile file) {
    return new ForwardingFile(file) {
      @Override
      public void write(long position, ByteBuffer source) {
        watch.at("write", name);
        super.write(position, source);
      }
    };
  }

  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    super.replace(name, writing, lastCheck);
    watch.at("replaced", name);
  }

  @Override
  public void delete(String name) {
    watch.at("delete", name);
    super.delete(name);
  }

  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    watch.at("delete", names.toString());
    super.delete(names, lastCheck);
  }
}
