package io.zrecord.storage.hadoop;

import io.zrecord.storage.Storage;
import io.zrecord.testing.HttpFault;
import io.zrecord.testing.HttpRequest;
import java.io.IOException;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** ABFS of Hadoop 3.3.4 and 3.4.1, which knows less of what became of a request. */
@Tag("tier-3")
final class OlderAbfsTest {
  @RegisterExtension
  private final FreshAzure azure = new FreshAzure();

  private Storage storage;

  @BeforeEach
  void open() {
    storage = azure.storage("data");
  }

  @Test
  void aTableIsWrittenAndRead() {
    TableCheck.writeAndRead(storage);
  }

  @Test
  void aLostAnswerOfAPublicationIsNoFailure() {
    storage.publish("m/first", new byte[1]);
    requirePublished("m/renamed", FakeAzure::isRename);
    requirePublished("m/created", FakeAzure::isCreation);
    azure.account().lookAtTargetsFirst();
    requirePublished("m/renamed too", FakeAzure::isRename);
    AbfsChecks.requireNoTemporaryFile(storage, "m");
  }

  private void requirePublished(String name, Predicate<HttpRequest> requests) {
    azure.proxy().heal();
    azure.proxy().inject(1, requests, HttpFault.answerLost());
    AbfsChecks.requirePublished(azure.proxy(), storage, name);
  }

  @Test
  void anAccountWithoutAHierarchicalNamespaceIsNotWrittenTo() throws IOException {
    AbfsChecks.requireFlatAccountRefused();
  }
}
