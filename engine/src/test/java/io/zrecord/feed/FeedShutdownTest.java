package io.zrecord.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Samplers;
import io.zrecord.testing.JavaProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A training process that is asked to end stops after a batch, says where, and is gone. */
class FeedShutdownTest {
  private static final int RECORDS = 1_000;

  @TempDir
  Path directory;

  /** A trainer; prints each batch, and its state in the end. */
  static final class Trainer {
    private Trainer() {}

    public static void main(String[] arguments) {
      try (RecordDataset dataset = RecordDataset.open(arguments[0]);
          Feed feed = Feed.of(group(dataset))
              .stopBeforeEpoch(Long.MAX_VALUE)
              .stopOnShutdown(Duration.ofMinutes(2))
              .start()) {
        for (FeedBatch batch : feed) {
          try (batch) {
            System.out.println("batch " + batch.batch());
          }
        }
        System.out.println("state " + feed.lastCompleted().toJson());
        System.out.flush();
      }
    }
  }

  private static FeedGroup group(RecordDataset dataset) {
    return FeedGroup.of(dataset).sampler(Samplers.shuffle(RECORDS, 4), 4).batchSize(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT"})
  @Timeout(600)
  void aSignalEndsTheFlowAtABatchThatIsReported(String signal) throws Exception {
    assumeFalse(
        signal.equals("INT") && ignoresInterrupts(),
        "a shell started this process in the background");
    Path path = directory.resolve("data");
    FeedData.write(path, RECORDS, 0);
    Process trainer = JavaProcess.of(Trainer.class).start(path.toString());
    List<String> lines = new ArrayList<>();
    try (BufferedReader output = new BufferedReader(
        new InputStreamReader(trainer.getInputStream(), StandardCharsets.UTF_8))) {
      String line = output.readLine();
      while (line != null) {
        lines.add(line);
        if (lines.size() == 20) {
          send(signal, trainer);
        }
        line = output.readLine();
      }
    }
    int exitCode = trainer.waitFor();
    assertThat(exitCode).isEqualTo(signal.equals("TERM") ? 128 + 15 : 128 + 2);
    String state = lines.get(lines.size() - 1);
    assertThat(state).startsWith("state ");
    assertThat(lines.get(lines.size() - 2)).isEqualTo("batch " + (lines.size() - 2));
    try (RecordDataset dataset = RecordDataset.open(path.toString());
        Feed feed = Feed.of(group(dataset))
            .resume(FeedState.fromJson(state.substring(6)))
            .stopBeforeEpoch(Long.MAX_VALUE)
            .start();
        FeedBatch next = feed.next()) {
      assertThat(next.batch()).isEqualTo(lines.size() - 1);
      assertThat(next.index(0))
          .isEqualTo(
              Samplers.shuffle(RECORDS, 4).index(next.batch() / 100, next.batch() % 100 * 10));
    }
  }

  private static void send(String signal, Process process) throws IOException {
    // Process.destroy closes the pipes as well.
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
  }

  /**
   * Returns whether SIGINT is ignored, which children inherit and a Java process then leaves as it
   * is.
   */
  private static boolean ignoresInterrupts() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    try (Stream<String> lines = Files.lines(status)) {
      return lines
          .filter(line -> line.startsWith("SigIgn:"))
          .anyMatch(line -> (Long.parseUnsignedLong(line.substring(7).strip(), 16) & 2) != 0);
    }
  }
}
