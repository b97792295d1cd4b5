package io.zrecord.internal.shard.write;

import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tables of a shard that is being written, until they are put one after the other into the
 * tables file. They stay in memory up to a bound, and go to a file beyond it, which is deleted when
 * the spool is closed. Belongs to one thread.
 */
final class TableSpool implements AutoCloseable {
  private final Storage storage;
  private final String name;
  private final SegmentPool pool;
  private final long boundBytes;
  private final List<SpooledTable> tables = new ArrayList<>();
  private @Nullable WritableFile file;
  private @Nullable Windows spilled;
  private boolean hasFile;
  private boolean isComplete;

  /**
   * Creates a spool without tables.
   *
   * @param name of the file, which is only created when it is needed
   * @param boundBytes memory for the tables, except that each has at least one segment
   * @param tableCount number of tables that are to be expected
   */
  TableSpool(Storage storage, String name, long boundBytes, int tableCount) {
    this.storage = storage;
    this.name = name;
    this.boundBytes = boundBytes;
    this.pool = new SegmentPool(boundBytes, tableCount);
  }

  /** Returns a new empty table. */
  SpooledTable table() {
    SpooledTable table = new SpooledTable(this);
    tables.add(table);
    return table;
  }

  /** Returns the bytes in memory. */
  long memoryBytes() {
    return pool.takenBytes();
  }

  int segmentBytes() {
    return pool.segmentBytes();
  }

  /** Returns an empty segment. Writes full ones to the file if the memory is used up. */
  ByteBuffer take() {
    if (isComplete) {
      throw new IllegalStateException("The tables are complete");
    }
    if (pool.takenBytes() + pool.segmentBytes() > boundBytes) {
      tables.forEach(SpooledTable::spill);
    }
    return pool.take();
  }

  /**
   * Writes full segments of a table to the file.
   *
   * @return the position of the first byte in the file
   */
  long spill(List<ByteBuffer> segments) {
    WritableFile target = file;
    if (target == null) {
      target = storage.create(name);
      file = target;
      hasFile = true;
    }
    long position = target.positionBytes();
    segments.forEach(ByteBuffer::flip);
    target.write(segments.toArray(ByteBuffer[]::new));
    segments.forEach(pool::giveBack);
    return position;
  }

  /** Ends writing. From now on the tables are only read. */
  void complete() {
    isComplete = true;
    WritableFile written = file;
    if (written != null) {
      long bytes = written.positionBytes();
      file = null;
      written.finish();
      spilled = new Windows(storage.open(name, bytes), bytes, kept -> {});
    }
  }

  /** Copies bytes of the file. */
  void copy(long position, byte[] target, int offset, int length) {
    java.util.Objects.requireNonNull(spilled).copy(position, target, offset, length);
  }

  /** Deletes the file. */
  @Override
  public void close() {
    WritableFile written = file;
    file = null;
    spilled = null;
    try {
      if (written != null) {
        written.close();
      }
    } finally {
      if (hasFile) {
        hasFile = false;
        storage.delete(name);
      }
    }
  }
}
