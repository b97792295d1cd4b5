package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.FaultyProxy;
import io.zrecord.testing.HttpFault;
import io.zrecord.testing.HttpRequest;
import java.io.IOException;
import java.util.UUID;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** ABFS of Hadoop 3.3.4 and 3.4.1, which knows less of what became of a request. */
final class OlderAbfsTest {
  private FakeAzure azure;
  private FaultyProxy proxy;
  private Storage storage;

  @BeforeEach
  void start() throws IOException {
    azure = FakeAzure.hierarchical();
    proxy = FaultyProxy.before(azure.endpoint());
    storage = HadoopStorage.at(
        FakeAzure.container(proxy.endpoint()) + "/data of " + UUID.randomUUID(),
        FakeAzure.settings(proxy.endpoint()));
  }

  @AfterEach
  void stop() throws IOException {
    proxy.close();
    azure.close();
  }

  @Test
  void aTableIsWrittenAndRead() {
    TableCheck.writeAndRead(storage);
  }

  @Test
  void aLostAnswerOfAPublicationIsNoFailure() {
    storage.publish("m/first", new byte[1]);
    requirePublished("m/renamed", OlderAbfsTest::renames);
    requirePublished("m/created", request -> request.target().contains("resource=file"));
    azure.lookAtTargetsFirst();
    requirePublished("m/renamed too", OlderAbfsTest::renames);
    assertThat(storage.list("m"))
        .extracting(StoredFile::name)
        .noneMatch(name -> name.endsWith(".tmp"));
  }

  private static boolean renames(HttpRequest request) {
    return request.method().equals("PUT")
        && !request.target().contains("action=")
        && !request.target().contains("resource=");
  }

  private void requirePublished(String name, Predicate<HttpRequest> requests) {
    proxy.heal();
    proxy.inject(1, requests, HttpFault.answerLost());
    byte[] content = name.getBytes(java.nio.charset.StandardCharsets.UTF_8);
    try {
      // False says that the name is taken: the caller reads back by whom.
      storage.publish(name, content);
    } catch (CommitOutcomeUnknownException e) {
      assertThat(e).hasMessageContaining(name);
    }
    assertThat(storage.read(name, 100)).isEqualTo(content);
  }

  @Test
  void anAccountWithoutAHierarchicalNamespaceIsNotWrittenTo() throws IOException {
    try (FakeAzure flat = FakeAzure.flat()) {
      AbfsPublicationTest.requireRefused(HadoopStorage.at(
          FakeAzure.container(flat.endpoint()) + "/data", FakeAzure.settings(flat.endpoint())));
    }
  }
}
