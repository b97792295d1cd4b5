package io.zrecord.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.s3.ScriptedServer.Answer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3Client;

/** Servers that do not answer for a while. */
final class S3RetriesTest {
  /** More than the circuit breaker of the SDK lets fail together. */
  private static final int AT_ONCE = 150;

  @Test
  void thePausesTakeAboutWhatTheOptionSays() {
    assertThat(S3Retries.tries(0)).isEqualTo(1);
    assertThat(S3Retries.tries(1)).isEqualTo(5);
    assertThat(tries(Map.of())).isEqualTo(S3Retries.tries(120)).isBetween(12, 20);
    assertThat(tries(Map.of("retrySeconds", "600"))).isBetween(40, 60);
  }

  @Test
  void theEnvironmentSaysHowOftenUnlessTheOptionDoes() {
    System.setProperty("aws.maxAttempts", "7");
    try {
      assertThat(tries(Map.of())).isEqualTo(7);
      assertThat(tries(Map.of("retrySeconds", "1"))).isEqualTo(5);
    } finally {
      System.clearProperty("aws.maxAttempts");
    }
  }

  private static int tries(Map<String, String> options) {
    Map<String, String> all = new java.util.HashMap<>(options);
    all.put("endpoint", "http://127.0.0.1:9");
    try (S3Client client = S3Clients.create(S3Options.parse(all))) {
      return client
          .serviceClientConfiguration()
          .overrideConfiguration()
          .retryStrategy()
          .orElseThrow()
          .maxAttempts();
    }
  }

  @Test
  void aServerThatIsAwayForSomeTriesLosesNobody() throws Exception {
    Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();
    // Far more tries than the server fails: a busy machine may refuse some connections, too.
    try (ScriptedServer server = new ScriptedServer(
        30,
        request ->
            asked.computeIfAbsent(request.target(), name -> new AtomicInteger()).incrementAndGet()
                    <= 4
                ? (request.target().hashCode() % 2 == 0
                    ? Answer.dropped()
                    : Answer.error(503, "SlowDown"))
                : Answer.of(200, "x"))) {
      Storage storage = server.storage();
      ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
      List<Future<byte[]>> reads = new ArrayList<>();
      for (int i = 0; i < AT_ONCE; i++) {
        String name = "f" + i;
        reads.add(threads.submit(() -> storage.read(name, 10)));
      }
      for (Future<byte[]> read : reads) {
        assertThat(read.get()).containsExactly('x');
      }
      threads.shutdown();
    }
  }

  @Test
  void theMessageSaysHowToWaitLonger() throws IOException {
    try (ScriptedServer server =
        new ScriptedServer(request -> Answer.error(503, "ServiceUnavailable"))) {
      assertThatThrownBy(() -> server.storage().read("f", 10))
          .isExactlyInstanceOf(StorageException.class)
          .hasMessageContaining("s3://b/data/f")
          .hasMessageContaining("tried 5 times")
          .hasMessageContaining("'retrySeconds'");
    }
  }
}
