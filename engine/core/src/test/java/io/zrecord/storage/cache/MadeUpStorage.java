package io.zrecord.storage.cache;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A remote storage that has every file, of made-up bytes that differ from place to place. */
final class MadeUpStorage extends ForwardingStorage {
  private final String location;
  private final List<Request> requests = new CopyOnWriteArrayList<>();
  private volatile @Nullable Runnable beforeAnswer;
  private volatile boolean isBroken;

  /** What was asked for. */
  record Request(String name, long position, int lengthBytes) {}

  MadeUpStorage() {
    this("far://bucket/train");
  }

  MadeUpStorage(String location) {
    super(new MemoryStorage());
    this.location = location;
  }

  List<Request> requests() {
    return requests;
  }

  /** Runs something before each answer. */
  void beforeAnswer(Runnable task) {
    beforeAnswer = task;
  }

  void breakDown(boolean broken) {
    isBroken = broken;
  }

  @Override
  public String location() {
    return location;
  }

  /** Returns bytes of a file. */
  static byte[] bytes(String name, long position, int lengthBytes) {
    long firstWord = position >>> 3;
    int before = (int) (position & 7);
    ByteBuffer words = ByteBuffer.allocate((before + lengthBytes + 7) / 8 * 8);
    long seed = name.hashCode() * 0x9e3779b97f4a7c15L;
    for (long word = firstWord; words.hasRemaining(); word++) {
      long mixed = (seed ^ word) * 0xbf58476d1ce4e5b9L;
      words.putLong(mixed ^ mixed >>> 29);
    }
    return Arrays.copyOfRange(words.array(), before, before + lengthBytes);
  }

  /** Tells whether a region has the bytes of the file. */
  static boolean isRight(String name, long position, ByteBuffer region) {
    return wrongAt(name, position, region) < 0;
  }

  /** Returns the first wrong position; negative if there is none. */
  static long wrongAt(String name, long position, ByteBuffer region) {
    int at = region.mismatch(ByteBuffer.wrap(bytes(name, position, region.remaining())));
    return at < 0 ? at : position + at;
  }

  @Override
  public ReadableFile open(String name, long lengthBytes) {
    return new MadeUpFile(name, lengthBytes);
  }

  private final class MadeUpFile implements ReadableFile {
    private final String name;
    private final long lengthBytes;

    MadeUpFile(String name, long lengthBytes) {
      this.name = name;
      this.lengthBytes = lengthBytes;
    }

    @Override
    public String path() {
      return pathOf(name);
    }

    @Override
    public long lengthBytes() {
      return lengthBytes;
    }

    @Override
    public ByteBuffer region(long position, int regionBytes) {
      requests.add(new Request(name, position, regionBytes));
      Runnable task = beforeAnswer;
      if (task != null) {
        task.run();
      }
      if (isBroken) {
        throw new StorageException(path(), "Cannot read " + path() + ": broken");
      }
      return ByteBuffer.wrap(bytes(name, position, regionBytes)).asReadOnlyBuffer();
    }

    @Override
    public boolean isMapped() {
      return false;
    }

    @Override
    public int preferredRegionBytes() {
      return 1 << 22;
    }

    @Override
    public void close() {}
  }
}
