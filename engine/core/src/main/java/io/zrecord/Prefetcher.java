package io.zrecord;

import io.zrecord.internal.shard.fetch.Prefetched;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks for the bytes of records that will be gathered soon, and does not wait for them. Readers of
 * the dataset then take these bytes from memory. {@link RecordDataset#prefetcher} makes one.
 * Belongs to one thread.
 */
public final class Prefetcher {
  private final List<ShardedFieldReader> readers;
  private final Prefetched memory;

  /** Bytes that were asked for. Belongs to one thread. */
  public interface Prefetch extends AutoCloseable {
    /** Gives the memory back. Does nothing at a later call. */
    @Override
    void close();
  }

  Prefetcher(List<ShardedFieldReader> readers, Prefetched memory) {
    this.readers = readers;
    this.memory = memory;
  }

  /**
   * Asks for the bytes of records. All that a process asks for in this way takes at most a third of
   * its heap: what is beyond is left to the readers. Chunk files of at most 256 KiB are fetched
   * whole and kept with the shard. They are not in that bound, and closing does not release them.
   *
   * @param indices of the records, in any order
   * @return what keeps the bytes in memory; the caller closes it
   * @throws IndexOutOfBoundsException if an index is not in {@code [0, length)}
   */
  public Prefetch ask(long[] indices) {
    List<Prefetched.Range> ranges = new ArrayList<>();
    Prefetch asked = () -> {
      ranges.forEach(memory::drop);
      ranges.clear();
    };
    try {
      readers.forEach(reader -> reader.prefetch(indices, ranges));
    } catch (Throwable e) {
      asked.close();
      throw e;
    }
    return asked;
  }
}
