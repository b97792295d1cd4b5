package io.zrecord;

import io.zrecord.errors.BatchReleasedException;
import io.zrecord.read.FieldReader;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the values of some fields that a gather returned. A batch is a lease that {@link #close}
 * ends: afterwards every method except {@code close} throws {@link BatchReleasedException}, so that
 * a batch that was given back is never read by mistake. Values that were taken before stay valid. A
 * batch belongs to one thread at a time.
 *
 * <p>With the system property {@code zrecord.traceBatches} set to {@code true}, the exception
 * carries the stack of the release. A batch that was never closed is then reported in the log once
 * the collector finds the batch, with the stack of where the batch was taken.
 */
public final class Batch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Batch.class);
  private static final boolean TRACE = Boolean.getBoolean("zrecord.traceBatches");
  private static final Cleaner LEAKS = Cleaner.create();

  private final String location;
  private final int count;
  private final Map<String, FieldReader> readers = new LinkedHashMap<>();
  private final Runnable onRelease;
  private final @Nullable LeakReport leak;
  private final AtomicReference<@Nullable Release> release = new AtomicReference<>();

  /** Logs where a batch was taken that became unreachable without being closed. */
  private static final class LeakReport implements Runnable {
    private final String location;
    private final int count;
    private final Throwable taken;
    private volatile boolean isReleased;

    LeakReport(String location, int count, Throwable taken) {
      this.location = location;
      this.count = count;
      this.taken = taken;
    }

    @Override
    public void run() {
      if (!isReleased) {
        LOG.warn(
            "A batch of {} records of {} was never closed; close it with try-with-resources. It was taken here:",
            count,
            location,
            taken);
      }
    }
  }

  /** Says where a batch was released. */
  private record Release(String thread, @Nullable Throwable trace) {}

  Batch(String location, int count, List<FieldReader> readers) {
    this(location, count, readers, () -> {});
  }

  /** Makes a batch; {@code onRelease} runs once, when the lease ends. */
  @Spi
  public Batch(String location, int count, List<FieldReader> readers, Runnable onRelease) {
    this.location = location;
    this.count = count;
    this.onRelease = onRelease;
    readers.forEach(reader -> this.readers.put(reader.field().name(), reader));
    if (TRACE) {
      LeakReport report = new LeakReport(location, count, new Throwable("taken here"));
      leak = report;
      LEAKS.register(this, report);
    } else {
      leak = null;
    }
  }

  /** Returns the number of records: as many as indices were asked for. */
  public int count() {
    requireHeld();
    return count;
  }

  /** Returns the names of the fields gathered, in the order asked for. */
  public List<String> fields() {
    requireHeld();
    return List.copyOf(readers.keySet());
  }

  /** Returns whether the value of the {@code i}-th record asked for is absent. */
  public boolean isAbsent(String field, int i) {
    return reader(field).isAbsent(i);
  }

  /** Returns the logical bytes of the value of the {@code i}-th record asked for; 0 if absent. */
  public int lengthBytes(String field, int i) {
    return reader(field).lengthBytes(i);
  }

  /**
   * Returns a read-only, little-endian view of a value: of the mapped file if the value is raw,
   * else of memory of its own. The view stays valid as long as it is referenced.
   *
   * <p>Never hand the view to checksums, codecs or native code ({@code CRC32C.update},
   * {@code Inflater.setInput}, JNI): if the file is cut meanwhile, they kill the process. Hand them
   * {@link #bytes} or {@link #copyAll} instead.
   *
   * @throws IllegalStateException if the value is absent
   * @throws io.zrecord.errors.CorruptDataException if the value does not match its checksum
   */
  public ByteBuffer value(String field, int i) {
    return present(field, i).view(i);
  }

  /**
   * Returns a copy of a value.
   *
   * @throws IllegalStateException if the value is absent
   * @throws io.zrecord.errors.CorruptDataException if the value does not match its checksum
   */
  public byte[] bytes(String field, int i) {
    return present(field, i).value(i);
  }

  /**
   * Copies all values of a field, one after the other, to the buffer's position, which moves after
   * the last byte; see {@link FieldReader#copyAll(ByteBuffer)}.
   *
   * @throws java.nio.BufferOverflowException if fewer bytes remain than the values have
   */
  public void copyAll(String field, ByteBuffer destination) {
    reader(field).copyAll(destination);
  }

  private FieldReader present(String field, int i) {
    FieldReader reader = reader(field);
    if (reader.isAbsent(i)) {
      throw new IllegalStateException("The value of field '" + field + "' at place " + i
          + " of the batch is absent; ask isAbsent first");
    }
    return reader;
  }

  private FieldReader reader(String field) {
    requireHeld();
    FieldReader reader = readers.get(field);
    if (reader == null) {
      throw new IllegalArgumentException("Field '" + field
          + "' is not in the batch; its fields are " + String.join(", ", readers.keySet()));
    }
    return reader;
  }

  private void requireHeld() {
    Release end = release.get();
    if (end != null) {
      throw new BatchReleasedException(
          location,
          "Cannot read the batch of " + count + " records of " + location
              + ": it was released by thread '" + end.thread
              + "'. Read it before closing it, or copy what must outlive it"
              + (TRACE ? "" : "; -Dzrecord.traceBatches=true shows where it was released"),
          end.trace);
    }
  }

  /** Ends the lease; closing again has no effect. */
  @Override
  public void close() {
    Release end = new Release(
        Thread.currentThread().getName(), TRACE ? new Throwable("released here") : null);
    if (release.compareAndSet(null, end)) {
      if (leak != null) {
        leak.isReleased = true;
      }
      onRelease.run();
    }
  }
}
