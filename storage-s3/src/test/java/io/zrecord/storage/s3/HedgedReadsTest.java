package io.zrecord.storage.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.storage.s3.ScriptedServer.Answer;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class HedgedReadsTest {
  private static final Duration SOON = Duration.ofMillis(20);
  private static final Duration NEVER = Duration.ofHours(1);

  private final CountDownLatch stall = new CountDownLatch(1);
  private final AtomicInteger asked = new AtomicInteger();

  /** Stalls the first time, and answers each time after that. */
  private String stallFirst() throws InterruptedException {
    int time = asked.incrementAndGet();
    if (time == 1) {
      stall.await();
    }
    return "answer " + time;
  }

  @Test
  void aStalledServerIsAskedTwice() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> {
      try {
        return Answer.of(206, stallFirst());
      } catch (InterruptedException e) {
        return Answer.dropped();
      }
    })) {
      S3Connection connection =
          new S3Connection(server.client(), new HedgedReads(SOON), ConcurrentHashMap.newKeySet());
      S3Reads.Content content = new S3Reads(connection, "b").range("f", "s3://b/f", 0, 8, null);
      assertThat(content.bytes()).asString(UTF_8).isEqualTo("answer 2");
      assertThat(connection.hedge().hedges()).isEqualTo(1);
      assertThat(server.requests()).hasSize(2);
      stall.countDown();
    }
  }

  @Test
  void aReadInTimeIsAskedOnce() throws Exception {
    HedgedReads reads = new HedgedReads(NEVER);
    stall.countDown();
    assertThat(reads.read(this::stallFirst)).isEqualTo("answer 1");
    assertThat(reads.hedges()).isZero();
    assertThat(asked).hasValue(1);
  }

  @Test
  void theStalledReadIsInterrupted() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    String answer = new HedgedReads(SOON).read(() -> {
      try {
        return stallFirst();
      } catch (InterruptedException e) {
        interrupted.countDown();
        throw e;
      }
    });
    assertThat(answer).isEqualTo("answer 2");
    interrupted.await();
  }

  @Test
  void aReadThatFailsInTimeIsNotAskedAgain() {
    HedgedReads reads = new HedgedReads(NEVER);
    assertThatThrownBy(() -> reads.read(() -> {
          asked.incrementAndGet();
          throw new IOException("broken");
        }))
        .isInstanceOf(ExecutionException.class)
        .hasRootCauseMessage("broken");
    assertThat(asked).hasValue(1);
  }

  @Test
  void theOtherReadCountsWhenOneFailsLate() throws Exception {
    CountDownLatch second = new CountDownLatch(1);
    CountDownLatch failed = new CountDownLatch(1);
    String answer = new HedgedReads(SOON).read(() -> {
      if (asked.incrementAndGet() == 1) {
        second.await();
        failed.countDown();
        throw new IOException("broken");
      }
      second.countDown();
      failed.await();
      return "answer 2";
    });
    assertThat(answer).isEqualTo("answer 2");
  }

  @Test
  void aServerThatIsSlowAsAWholeIsSeldomAskedTwice() throws Exception {
    HedgedReads reads = new HedgedReads(Duration.ofNanos(1));
    AtomicInteger together = new AtomicInteger();
    for (int i = 0; i < 200; i++) {
      reads.read(together::incrementAndGet);
    }
    assertThat(together.get()).isLessThanOrEqualTo(200 + 11);
    assertThat(reads.hedges()).isLessThanOrEqualTo(11);
  }

  @Test
  void theUsualTimeIsThatOf95Percent() throws Exception {
    HedgedReads reads = new HedgedReads(NEVER);
    assertThat(reads.usualNanos()).isZero();
    long start = System.nanoTime();
    for (int i = 0; i < 300; i++) {
      reads.read(() -> "answer");
    }
    assertThat(reads.usualNanos())
        .isPositive()
        .isLessThan(System.nanoTime() - start);
  }
}
