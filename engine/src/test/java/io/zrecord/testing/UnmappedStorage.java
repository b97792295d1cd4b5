package io.zrecord.testing;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Another storage whose regions are copies in memory, as those of a remote one are. */
public final class UnmappedStorage extends ForwardingStorage {
  private final int regionBytes;
  private final AtomicInteger requests = new AtomicInteger();
  private final AtomicLong bytes = new AtomicLong();
  private final AtomicInteger inFlight = new AtomicInteger();
  private final AtomicInteger mostInFlight = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicInteger wrongAnswers = new AtomicInteger();
  private volatile long latencyMillis;
  private volatile CountDownLatch together = new CountDownLatch(0);

  /**
   * Wraps a storage.
   *
   * @param regionBytes preferred length of regions, a power of two
   */
  public UnmappedStorage(Storage storage, int regionBytes) {
    super(storage);
    this.regionBytes = regionBytes;
  }

  /** Returns the number of regions asked for. */
  public int requests() {
    return requests.get();
  }

  /** Returns the bytes of these regions. */
  public long requestedBytes() {
    return bytes.get();
  }

  /** Returns how many requests waited for an answer at the same time. */
  public int mostInFlight() {
    return mostInFlight.get();
  }

  /** Counts from 0 again, and lets each request wait for a time. */
  public void begin(long newLatencyMillis) {
    latencyMillis = newLatencyMillis;
    requests.set(0);
    bytes.set(0);
    mostInFlight.set(0);
  }

  /**
   * Counts from 0 again, and lets each request wait until there have been as many, whatever the
   * time: {@link #mostInFlight} says then whether they came while others waited. If so many do not
   * come in five minutes, those that wait fail.
   */
  public void beginTogether(int requestCount) {
    begin(0);
    together = new CountDownLatch(requestCount);
  }

  /** Lets the next requests for values fail. */
  public void failNext(int count) {
    failures.set(count);
  }

  /** Lets the next answers with values be wrong in their last byte. */
  public void spoilNext(int count) {
    wrongAnswers.set(count);
  }

  private static boolean isNext(AtomicInteger left) {
    return left.getAndUpdate(count -> Math.max(0, count - 1)) > 0;
  }

  @Override
  public boolean isRemote() {
    return true;
  }

  @Override
  public ReadableFile open(String name) {
    return new UnmappedFile(storage.open(name));
  }

  private ByteBuffer request(ReadableFile file, long position, int lengthBytes) {
    requests.incrementAndGet();
    bytes.addAndGet(lengthBytes);
    mostInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
    try {
      Thread.sleep(latencyMillis);
      CountDownLatch others = together;
      others.countDown();
      if (!others.await(5, TimeUnit.MINUTES)) {
        throw new StorageException(file.path(), others.getCount() + " more requests did not come");
      }
      boolean hasValues = file.path().endsWith(".zr");
      if (hasValues && isNext(failures)) {
        throw new StorageException(file.path(), "no answer from " + file.path());
      }
      ByteBuffer answer = ByteBuffer.allocate(lengthBytes)
          .put(file.region(position, lengthBytes))
          .flip();
      if (hasValues && isNext(wrongAnswers)) {
        answer.put(lengthBytes - 1, (byte) (answer.get(lengthBytes - 1) ^ 1));
      }
      return answer.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } finally {
      inFlight.decrementAndGet();
    }
  }

  private final class UnmappedFile implements ReadableFile {
    private final ReadableFile file;

    UnmappedFile(ReadableFile file) {
      this.file = file;
    }

    @Override
    public int preferredRegionBytes() {
      return regionBytes;
    }

    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long lengthBytes() {
      return file.lengthBytes();
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      return request(file, position, lengthBytes);
    }

    @Override
    public boolean isMapped() {
      return false;
    }

    @Override
    public void close() {
      file.close();
    }
  }
}
