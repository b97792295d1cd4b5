package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import io.zrecord.testing.HttpFault;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What ABFS makes of a publication, whatever becomes of its requests. */
final class AbfsPublicationTest {
  private static final int RACERS = 16;

  /** Faults of requests that take effect, which the client is not told. */
  private static final Map<String, HttpFault> LOST = new TreeMap<>(Map.of(
      "answer lost", HttpFault.answerLost(),
      "done and 409", HttpFault.doneAnd(409, "PathAlreadyExists"),
      "done and 412", HttpFault.doneAnd(412, "ConditionNotMet"),
      "done and 500", HttpFault.doneAnd(500, "InternalError"),
      "done and 503", HttpFault.doneAnd(503, "ServerBusy")));

  @RegisterExtension
  private final FreshAzure azure = new FreshAzure();

  private Storage storage;

  @BeforeEach
  void open() {
    storage = azure.storage("data");
    storage.publish("m/first", new byte[1]);
    azure.proxy().heal();
  }

  @Test
  void ofSixteenRacersExactlyOneWins() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(RACERS);
    try {
      for (int round = 0; round < 10; round++) {
        String name = "m/" + round;
        List<Callable<Boolean>> racers = new ArrayList<>();
        for (int racer = 0; racer < RACERS; racer++) {
          byte[] content = ("racer " + racer).getBytes(UTF_8);
          racers.add(() -> storage.publish(name, content));
        }
        List<Future<Boolean>> outcomes = threads.invokeAll(racers);
        List<Integer> winners = new ArrayList<>();
        for (int racer = 0; racer < RACERS; racer++) {
          if (outcomes.get(racer).get()) {
            winners.add(racer);
          }
        }
        assertThat(winners).hasSize(1);
        assertThat(storage.read(name, 100)).asString().isEqualTo("racer " + winners.get(0));
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aLostAnswerOfARenameIsNoFailureAndNoSecondFile() {
    for (boolean isTargetFirst : new boolean[] {false, true}) {
      if (isTargetFirst) {
        azure.account().lookAtTargetsFirst();
      }
      for (int times : new int[] {1, Integer.MAX_VALUE}) {
        LOST.forEach((fault, answer) -> {
          azure.proxy().heal();
          azure.proxy().inject(times, FakeAzure::isRename, answer);
          AbfsChecks.requirePublished(azure.proxy(), storage, "m/" + fault + times + isTargetFirst);
        });
      }
    }
    AbfsChecks.requireNoTemporaryFile(storage, "m");
  }

  @Test
  void aLostAnswerOfAnyRequestIsReportedAsWhatItWas() {
    storage.publish("m/healthy", new byte[1]);
    int requests = azure.proxy().requests().size();
    assertThat(requests).isPositive();
    for (int number = 0; number < requests; number++) {
      int from = number;
      LOST.forEach((fault, answer) -> {
        azure.proxy().heal();
        azure.proxy().inject(1, request -> request.number() == from, answer);
        requirePublishedOrBegun("m/" + fault + " at " + from);
      });
    }
  }

  /**
   * Publishes a free name. The outcome is known if the rename was asked for. Before, the file is
   * certainly not there, but who is told so gives up: an unknown outcome makes the caller try
   * again, and a fault of the temporary file may pass.
   */
  private void requirePublishedOrBegun(String name) {
    try {
      AbfsChecks.requirePublished(azure.proxy(), storage, name);
    } catch (CommitOutcomeUnknownException e) {
      assertThat(azure.proxy().faults()).as(name).isEqualTo(1);
      assertThat(azure.proxy().requests()).as(name).noneMatch(FakeAzure::isRename);
      azure.proxy().heal();
      assertThat(storage.exists(name)).as(name).isFalse();
    }
  }

  @Test
  void aRenameThatIsRefusedOnceIsRepeated() {
    azure.proxy().inject(1, FakeAzure::isRename, HttpFault.refused(500, "InternalError"));
    AbfsChecks.requirePublished(azure.proxy(), storage, "m/refused once");
  }

  /** The outcome is unknown: the store may still do what it was asked for when nobody looks. */
  @Test
  void aRenameThatFailsToTheEndIsOfUnknownOutcome() {
    azure
        .proxy()
        .inject(Integer.MAX_VALUE, FakeAzure::isRename, HttpFault.refused(500, "InternalError"));
    assertThatThrownBy(() -> storage.publish("m/refused", new byte[1]))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("m/refused");
    assertThat(azure.proxy().faults()).isGreaterThan(1);
    azure.proxy().heal();
    assertThat(storage.exists("m/refused")).isFalse();
  }

  @Test
  void aConflictThatIsNotOfTheNameIsNoTakenName() {
    azure
        .proxy()
        .inject(Integer.MAX_VALUE, FakeAzure::isRename, HttpFault.refused(409, "PathBusy"));
    assertThatThrownBy(() -> storage.publish("m/busy", new byte[1]))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("m/busy");
    assertThat(azure.proxy().faults()).isPositive();
    azure.proxy().heal();
    assertThat(storage.exists("m/busy")).isFalse();
    assertThat(storage.publish("m/busy", new byte[1])).isTrue();
  }

  @Test
  void aLostAnswerOfACreationIsNoFailure() {
    for (String name : List.of("answer lost", "done and 500", "done and 503")) {
      azure.proxy().heal();
      azure.proxy().inject(1, FakeAzure::isCreation, LOST.get(name));
      assertThat(storage.publish("m/" + name, new byte[7])).isTrue();
      assertThat(azure.proxy().faults()).as(name).isEqualTo(1);
      azure.proxy().heal();
      azure.proxy().inject(1, FakeAzure::isCreation, LOST.get(name));
      try (WritableFile file = storage.create("shard/" + name)) {
        file.write(ByteBuffer.wrap(new byte[5]));
        file.finish();
      }
      assertThat(azure.proxy().faults()).as(name).isEqualTo(1);
      assertThat(storage.lengthBytes("shard/" + name)).isEqualTo(5);
    }
  }

  @Test
  void aDenialOfTheCreationIsNoUnknownOutcome() {
    azure
        .proxy()
        .inject(Integer.MAX_VALUE, FakeAzure::isCreation, HttpFault.refused(403, "Forbidden"));
    assertThatThrownBy(() -> storage.publish("m/denied", new byte[1]))
        .isInstanceOf(StorageException.class)
        .isNotInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("access is denied");
    assertThat(azure.proxy().faults()).isPositive();
    azure.proxy().heal();
    assertThat(storage.exists("m/denied")).isFalse();
  }

  @Test
  void anAccountWithoutAHierarchicalNamespaceIsNotWrittenTo() throws IOException {
    AbfsChecks.requireFlatAccountRefused();
  }
}
