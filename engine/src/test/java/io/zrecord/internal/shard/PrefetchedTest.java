package io.zrecord.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.read.ReadMetrics;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.testing.UnmappedStorage;
import java.util.Objects;
import org.junit.jupiter.api.Test;

final class PrefetchedTest {
  private static final int LENGTH = 1000;

  private final UnmappedStorage storage = new UnmappedStorage(new MemoryStorage(), 1 << 20);

  private final ReadMetrics metrics = new ReadMetrics();

  private Windows windows() {
    byte[] content = new byte[LENGTH];
    content[10] = 7;
    storage.publish("f.zr", content);
    ReadableFile file = ((Storage) storage).open("f.zr", LENGTH);
    return new Windows(file, LENGTH, kept -> {});
  }

  @Test
  void bytesThatWereAskedForAreFoundUntilTheyAreDropped() {
    Windows file = windows();
    Prefetched prefetched = new Prefetched();
    Prefetched.Range range = Objects.requireNonNull(prefetched.ask(file, 5, 50, metrics));
    assertThat(prefetched.find(file, 10, 11)).isSameAs(range);
    assertThat(prefetched.find(file, 10, 51)).isNull();
    assertThat(prefetched.find(file, 4, 11)).isNull();
    assertThat(range.piece(0).get(5)).isEqualTo((byte) 7);
    prefetched.drop(range);
    assertThat(prefetched.find(file, 10, 11)).isNull();
  }

  @Test
  void bytesThatAreHeldAreAskedForOnceAndStayUntilTheLastUserDropsThem() {
    Windows file = windows();
    Prefetched prefetched = new Prefetched();
    Prefetched.Range first = Objects.requireNonNull(prefetched.ask(file, 0, 50, metrics));
    Prefetched.Range second = Objects.requireNonNull(prefetched.ask(file, 0, 20, metrics));
    assertThat(second).isSameAs(first);
    assertThat(metrics.requests.sum()).isEqualTo(1);
    prefetched.drop(first);
    assertThat(prefetched.find(file, 0, 20)).isSameAs(first);
    prefetched.drop(second);
    assertThat(prefetched.find(file, 0, 20)).isNull();
    assertThat(prefetched.ask(file, 0, 20, metrics)).isNotSameAs(first);
    assertThat(metrics.requests.sum()).isEqualTo(2);
  }

  @Test
  void aRangeIsFoundBehindOnesThatBeginLaterAndAreShorter() {
    Windows file = windows();
    Prefetched prefetched = new Prefetched();
    prefetched.ask(file, 10, 20, metrics);
    Prefetched.Range all = Objects.requireNonNull(prefetched.ask(file, 5, 100, metrics));
    assertThat(prefetched.find(file, 10, 30)).isSameAs(all);
    assertThat(prefetched.find(file, 10, 101)).isNull();
  }

  @Test
  void aRangeWhoseRequestFailedIsAskedForAgain() {
    storage.failNext(1);
    Windows file = windows();
    Prefetched prefetched = new Prefetched();
    Prefetched.Range failed = Objects.requireNonNull(prefetched.ask(file, 0, 50, metrics));
    assertThat(failed.piece(0).get(10)).as("read again by its user").isEqualTo((byte) 7);
    assertThat(prefetched.find(file, 0, 50)).isNull();
    Prefetched.Range again = Objects.requireNonNull(prefetched.ask(file, 0, 50, metrics));
    assertThat(again).isNotSameAs(failed);
    assertThat(metrics.requests.sum()).isEqualTo(2);
    prefetched.drop(failed);
    assertThat(prefetched.find(file, 0, 50)).isSameAs(again);
    assertThat(again.piece(0).get(10)).isEqualTo((byte) 7);
  }

  /** A reader that is late has found the range before it was dropped. */
  @Test
  void aPieceIsReadThoughItsRequestWasCanceled() {
    // The first request waits for that of the reader.
    storage.beginTogether(2);
    Windows file = windows();
    Prefetched prefetched = new Prefetched();
    Prefetched.Range range = Objects.requireNonNull(prefetched.ask(file, 0, LENGTH, metrics));
    while (storage.requests() == 0) {
      Thread.onSpinWait();
    }
    prefetched.drop(range);
    assertThat(range.piece(0).get(10)).isEqualTo((byte) 7);
    assertThat(storage.requests()).isEqualTo(2);
  }
}
