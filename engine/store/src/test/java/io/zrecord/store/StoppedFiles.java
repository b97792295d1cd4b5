package io.zrecord.store;

import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import java.nio.ByteBuffer;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;

/**
 * The files of a writer that is stopped before one of its calls, or after its look for its token.
 * One writer runs at a time.
 */
final class StoppedFiles extends ForwardingFiles {
  /** Stops its thread before one of its steps. */
  static final class Stops {
    final Semaphore isStopped = new Semaphore(0);
    final Semaphore goesOn = new Semaphore(0);

    /** The steps that wrote to the journal, or would have. */
    final List<Integer> journalWrites = new ArrayList<>();

    /** The steps that deleted a file of a list, or would have. */
    final List<Integer> deletions = new ArrayList<>();

    private final int stopAt;
    private int steps;
    private volatile boolean isDead;

    Stops(int stopAt) {
      this.stopAt = stopAt;
    }

    void step() {
      if (steps++ == stopAt) {
        isStopped.release();
        goesOn.acquireUninterruptibly();
      }
      if (isDead) {
        throw new IllegalStateException("killed");
      }
    }

    /** Tells whether the thread ended before it came to its stop. */
    boolean isOver() {
      return steps <= stopAt;
    }

    /** Lets the thread end at its next step, or now if it is stopped. */
    void kill() {
      isDead = true;
      goesOn.release();
    }
  }

  /** What keeps a writer from losing what another acknowledged. */
  enum Habits {
    GOOD,
    NEVER_LOOKS,
    KEEPS_THE_JOURNAL,
    DELETES_LATE,
    KEEPS_MANIFESTS
  }

  private final Stops stops;
  private final Habits habits;

  StoppedFiles(MutableFiles files, Stops stops, Habits habits) {
    super(files);
    this.stops = stops;
    this.habits = habits;
  }

  @Override
  public boolean exists(String name) {
    if (!name.startsWith("writer-")) {
      return super.exists(name);
    }
    stops.step();
    boolean exists = super.exists(name) || habits == Habits.NEVER_LOOKS;
    stops.step();
    return exists;
  }

  @Override
  public List<String> list(String directory) {
    stops.step();
    return habits == Habits.KEEPS_MANIFESTS && directory.equals("manifest")
        ? List.of()
        : super.list(directory);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    stops.step();
    return super.read(name, maxBytes);
  }

  @Override
  public MutableFile open(String name, boolean writable) {
    stops.step();
    return new StoppedFile(super.open(name, writable), stops);
  }

  @Override
  public MutableFile create(String name) {
    stops.step();
    return new StoppedFile(super.create(name), stops);
  }

  @Override
  public void replace(String name, Consumer<MutableFile> writing, Runnable lastCheck) {
    stops.step();
    if (habits != Habits.KEEPS_THE_JOURNAL || !name.equals("journal")) {
      super.replace(name, file -> writing.accept(new StoppedFile(file, stops)), lastCheck);
    }
  }

  @Override
  public void dropReplacements() {
    stops.step();
    super.dropReplacements();
  }

  @Override
  public void delete(String name) {
    stops.step();
    super.delete(name);
  }

  @Override
  public void delete(List<String> names, Runnable lastCheck) {
    if (habits == Habits.DELETES_LATE) {
      lastCheck.run();
      stopping(names).forEach(super::delete);
    } else {
      super.delete(stopping(names), lastCheck);
    }
  }

  /** Returns names before each of which the writer may be stopped. */
  private List<String> stopping(List<String> names) {
    return new AbstractList<>() {
      @Override
      public String get(int index) {
        stops.deletions.add(stops.steps);
        stops.step();
        return names.get(index);
      }

      @Override
      public int size() {
        return names.size();
      }
    };
  }

  private static final class StoppedFile extends ForwardingFile {
    private final Stops stops;

    StoppedFile(MutableFile file, Stops stops) {
      super(file);
      this.stops = stops;
    }

    @Override
    public void write(long position, ByteBuffer source) {
      if (path().equals("journal")) {
        stops.journalWrites.add(stops.steps);
      }
      stops.step();
      super.write(position, source);
    }

    @Override
    public void setLength(long lengthBytes) {
      stops.step();
      super.setLength(lengthBytes);
    }

    @Override
    public void force() {
      stops.step();
      super.force();
    }
  }
}
