package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import io.zrecord.testing.FaultyProxy;
import io.zrecord.testing.HttpFault;
import io.zrecord.testing.HttpRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What ABFS makes of a publication, whatever becomes of its requests. */
final class AbfsPublicationTest {
  private static final int RACERS = 16;

  private static final Map<String, HttpFault> LOST = new TreeMap<>(Map.of(
      "answer lost", HttpFault.answerLost(),
      "done and 409", HttpFault.doneAnd(409, "PathAlreadyExists"),
      "done and 412", HttpFault.doneAnd(412, "ConditionNotMet"),
      "done and 500", HttpFault.doneAnd(500, "InternalError"),
      "done and 503", HttpFault.doneAnd(503, "ServerBusy"),
      "500", HttpFault.refused(500, "InternalError")));

  private FakeAzure azure;
  private FaultyProxy proxy;
  private Storage storage;

  @BeforeEach
  void start() throws IOException {
    azure = FakeAzure.hierarchical();
    proxy = FaultyProxy.before(azure.endpoint());
    storage = HadoopStorage.at(
        FakeAzure.container(proxy.endpoint()) + "/data", FakeAzure.settings(proxy.endpoint()));
    storage.publish("m/first", new byte[1]);
    proxy.heal();
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    azure.close();
  }

  private static boolean renames(HttpRequest request) {
    return request.method().equals("PUT")
        && !request.target().contains("action=")
        && !request.target().contains("resource=");
  }

  private static boolean creates(HttpRequest request) {
    return request.method().equals("PUT") && request.target().contains("resource=file");
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
        azure.lookAtTargetsFirst();
      }
      for (int times : new int[] {1, Integer.MAX_VALUE}) {
        LOST.forEach((fault, answer) -> {
          proxy.heal();
          proxy.inject(times, AbfsPublicationTest::renames, answer);
          requireHonest("m/" + fault + times + isTargetFirst);
        });
      }
    }
    proxy.heal();
    assertThat(storage.list("m"))
        .extracting(StoredFile::name)
        .noneMatch(name -> name.endsWith(".tmp"));
  }

  @Test
  void aLostAnswerOfAnyRequestIsReportedAsWhatItWas() {
    storage.publish("m/healthy", new byte[1]);
    int requests = proxy.requests().size();
    assertThat(requests).isPositive();
    for (int number = 0; number < requests; number++) {
      int from = number;
      LOST.forEach((fault, answer) -> {
        proxy.heal();
        proxy.inject(1, request -> request.number() == from, answer);
        requireHonest("m/" + fault + " at " + from);
      });
    }
  }

  /** Publishes a name that is free. The answer must agree with what is there. */
  private void requireHonest(String name) {
    byte[] content = ("content of " + name).getBytes(UTF_8);
    boolean isPublished;
    try {
      isPublished = storage.publish(name, content);
    } catch (CommitOutcomeUnknownException e) {
      return;
    } catch (StorageException e) {
      proxy.heal();
      assertThat(storage.exists(name)).as(name + ": " + e.getMessage()).isFalse();
      return;
    }
    proxy.heal();
    // False says that the name is taken: the caller reads back by whom.
    assertThat(storage.read(name, 1000)).as(name + " " + isPublished).isEqualTo(content);
    assertThat(storage.publish(name, new byte[1])).isFalse();
  }

  @Test
  void aConflictThatIsNotOfTheNameIsNoTakenName() {
    proxy.inject(
        Integer.MAX_VALUE, AbfsPublicationTest::renames, HttpFault.refused(409, "PathBusy"));
    assertThatThrownBy(() -> storage.publish("m/busy", new byte[1]))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("m/busy");
    proxy.heal();
    assertThat(storage.exists("m/busy")).isFalse();
    assertThat(storage.publish("m/busy", new byte[1])).isTrue();
  }

  @Test
  void aLostAnswerOfACreationIsNoFailure() {
    for (String name : List.of("answer lost", "done and 500", "done and 503")) {
      proxy.heal();
      proxy.inject(1, AbfsPublicationTest::creates, LOST.get(name));
      assertThat(storage.publish("m/" + name, new byte[7])).isTrue();
      proxy.heal();
      proxy.inject(1, AbfsPublicationTest::creates, LOST.get(name));
      try (WritableFile file = storage.create("shard/" + name)) {
        file.write(ByteBuffer.wrap(new byte[5]));
        file.finish();
      }
      assertThat(storage.lengthBytes("shard/" + name)).isEqualTo(5);
    }
  }

  @Test
  void aDenialOfTheCreationIsNoUnknownOutcome() {
    proxy.inject(
        Integer.MAX_VALUE, AbfsPublicationTest::creates, HttpFault.refused(403, "Forbidden"));
    assertThatThrownBy(() -> storage.publish("m/denied", new byte[1]))
        .isInstanceOf(StorageException.class)
        .isNotInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("access is denied");
    proxy.heal();
    assertThat(storage.exists("m/denied")).isFalse();
  }

  @Test
  void anAccountWithoutAHierarchicalNamespaceIsNotWrittenTo() throws IOException {
    try (FakeAzure flat = FakeAzure.flat()) {
      requireRefused(HadoopStorage.at(
          FakeAzure.container(flat.endpoint()) + "/data " + UUID.randomUUID(),
          FakeAzure.settings(flat.endpoint())));
    }
  }

  /** Fails unless a storage of an account without a hierarchical namespace refuses writes. */
  static void requireRefused(Storage flat) {
    assertThatThrownBy(() -> flat.create("shard/x"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("no hierarchical namespace");
    assertThatThrownBy(() -> flat.publish("m/x", new byte[1]))
        .isInstanceOf(StorageException.class)
        .isNotInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("use an account that has");
  }
}
