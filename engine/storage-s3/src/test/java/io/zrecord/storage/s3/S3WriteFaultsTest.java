package io.zrecord.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import io.zrecord.storage.s3.ScriptedServer.Answer;
import io.zrecord.storage.s3.ScriptedServer.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a writer makes of servers that fail, refuse, lose answers, or ignore conditions. */
final class S3WriteFaultsTest {
  private static final String MANIFEST = "/b/data/manifest/0.json";

  /** Enforces conditions for the probe, and answers to other requests as the test says. */
  private static Function<Request, Answer> probed(Function<Request, Answer> script) {
    AtomicInteger probes = new AtomicInteger();
    return request -> {
      if (!request.target().contains("/list/")) {
        return script.apply(request);
      }
      return request.is("PUT") && probes.incrementAndGet() == 2
          ? Answer.error(412, "PreconditionFailed")
          : Answer.of(request.is("DELETE") ? 204 : 200, "");
    };
  }

  private static boolean publish(ScriptedServer server) {
    return server.storage().publish("manifest/0.json", new byte[] {1});
  }

  private static long sent(ScriptedServer server, String method, String target) {
    return server.requests().stream()
        .filter(request -> request.is(method) && request.target().startsWith(target))
        .count();
  }

  @Test
  void everyPublicationHasTheCondition() throws IOException {
    try (ScriptedServer server = new ScriptedServer(probed(request -> Answer.of(200, "")))) {
      assertThat(publish(server)).isTrue();
      assertThat(server.requests())
          .filteredOn(request -> request.is("PUT"))
          .hasSize(3)
          .allMatch(request -> request.header("If-None-Match").equals("*"));
      assertThat(sent(server, "DELETE", "/b/data/list/")).isEqualTo(1);
    }
  }

  @Test
  void theServerIsProbedOnceForAStorage() throws IOException {
    try (ScriptedServer server = new ScriptedServer(probed(request -> Answer.of(200, "")))) {
      Storage storage = server.storage();
      storage.publish("manifest/0.json", new byte[1]);
      storage.publish("manifest/1.json", new byte[1]);
      assertThat(sent(server, "PUT", "/b/data/list/")).isEqualTo(2);
    }
  }

  @Test
  void aServerThatIgnoresTheConditionIsRefused() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.of(200, ""))) {
      assertThatThrownBy(() -> publish(server))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("s3://b/data")
          .hasMessageContaining("ignores the condition")
          .hasMessageContaining("Reading works");
      assertThat(sent(server, "PUT", MANIFEST)).isZero();
      assertThat(sent(server, "DELETE", "/b/data/list/")).isEqualTo(1);
    }
  }

  @Test
  void aServerThatDoesNotKnowTheConditionIsRefused() throws IOException {
    try (ScriptedServer server =
        new ScriptedServer(request -> Answer.error(501, "NotImplemented"))) {
      assertThatThrownBy(() -> publish(server))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("does not know conditions");
      assertThat(sent(server, "PUT", MANIFEST)).isZero();
    }
  }

  @Test
  void aProbeThatFailsIsNoUnknownOutcome() throws IOException {
    try (ScriptedServer server =
        new ScriptedServer(request -> Answer.error(500, "InternalError"))) {
      assertThatThrownBy(() -> publish(server))
          .isExactlyInstanceOf(StorageException.class)
          .hasMessageContaining("tried 5 times");
    }
  }

  @Test
  void aNameThatIsTakenIsNoError() throws IOException {
    try (ScriptedServer server =
        new ScriptedServer(probed(request -> Answer.error(412, "PreconditionFailed")))) {
      assertThat(publish(server)).isFalse();
    }
  }

  @Test
  void aRefusalHasNoEffect() throws IOException {
    failsWith(request -> Answer.error(403, "AccessDenied"), FileUnavailableException.class);
    failsWith(request -> Answer.error(404, "NoSuchBucket"), StorageException.class);
    failsWith(request -> Answer.error(400, "QuotaExceeded"), DiskFullException.class);
  }

  @Test
  void anOutcomeThatNobodyKnowsIsUnknown() throws IOException {
    failsWith(
        request -> Answer.error(409, "ConditionalRequestConflict"),
        CommitOutcomeUnknownException.class);
    failsWith(request -> Answer.error(500, "InternalError"), CommitOutcomeUnknownException.class);
    failsWith(request -> Answer.dropped(), CommitOutcomeUnknownException.class);
    // The first request may have taken effect, whatever the server says of the second.
    AtomicInteger asked = new AtomicInteger();
    failsWith(
        request ->
            asked.incrementAndGet() == 1 ? Answer.dropped() : Answer.error(403, "ExpiredToken"),
        CommitOutcomeUnknownException.class);
  }

  private static void failsWith(
      Function<Request, Answer> script, Class<? extends ZRecordException> error)
      throws IOException {
    try (ScriptedServer server = new ScriptedServer(probed(script))) {
      assertThatThrownBy(() -> publish(server))
          .isInstanceOf(error)
          .hasMessageContaining("s3://b/data/manifest/0.json");
    }
  }

  @Test
  void theEchoOfALostSuccessIsATakenName() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    try (ScriptedServer server = new ScriptedServer(probed(request -> asked.incrementAndGet() == 1
        ? Answer.dropped()
        : Answer.error(412, "PreconditionFailed")))) {
      assertThat(publish(server)).isFalse();
      assertThat(asked).hasValue(2);
    }
  }

  private static void write(ScriptedServer server, int lengthBytes) {
    try (WritableFile file = server.storage().create("f")) {
      file.write(ByteBuffer.wrap(new byte[lengthBytes]));
      file.finish();
    }
  }

  @Test
  void aSmallFileIsOneRequest() throws IOException {
    try (ScriptedServer server = new ScriptedServer(
        request -> request.is("HEAD") ? Answer.of(404, "") : Answer.of(200, ""))) {
      write(server, 100);
      assertThat(server.requests()).extracting(Request::method).containsExactly("PUT");
      assertThat(server.requests().get(0).body()).hasSize(100);
      assertThat(server.requests().get(0).header("If-None-Match")).isEqualTo("*");
    }
  }

  /** Loses the answer to the first PUT, and has an object of some write then. */
  private static ScriptedServer losing(String otherWrite) throws IOException {
    AtomicReference<String> write = new AtomicReference<>();
    return new ScriptedServer(request -> {
      if (request.is("HEAD")) {
        return write.get() == null
            ? Answer.of(404, "")
            : Answer.of(200, "").with("x-amz-meta-zrecord-write", write.get());
      }
      if (write.get() == null) {
        String own = request.header("x-amz-meta-zrecord-write");
        assertThat(own).isNotEmpty();
        write.set(otherWrite.isEmpty() ? own : otherWrite);
        return Answer.dropped();
      }
      return Answer.error(412, "PreconditionFailed");
    });
  }

  @Test
  void aFileWhoseAnswerWasLostIsFinished() throws IOException {
    try (ScriptedServer server = losing("")) {
      write(server, 100);
      assertThat(sent(server, "PUT", "/b/data/f")).isEqualTo(2);
    }
  }

  @Test
  void theFileOfAnotherWriterIsNotTakenForOnesOwn() throws IOException {
    try (ScriptedServer server = losing("another")) {
      assertThatThrownBy(() -> write(server, 100))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("s3://b/data/f")
          .hasMessageContaining("already exists");
    }
  }

  @Test
  void anUploadThatFailsIsGivenUpAndCannotBeFinished() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> {
      if (request.is("POST")) {
        return Answer.of(
            200,
            "<InitiateMultipartUploadResult><UploadId>U</UploadId>"
                + "</InitiateMultipartUploadResult>");
      }
      return request.is("PUT")
          ? Answer.error(403, "AccessDenied")
          : Answer.of(request.is("HEAD") ? 404 : 204, "");
    })) {
      WritableFile file = server.storage().create("f");
      assertThatThrownBy(() -> {
            for (int part = 0; part < 7; part++) {
              file.write(ByteBuffer.wrap(new byte[S3WritableFile.PART_BYTES]));
            }
          })
          .isInstanceOf(FileUnavailableException.class)
          .hasMessageContaining("s3://b/data/f");
      assertThatThrownBy(file::finish)
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("failed before");
      file.close();
      file.close();
      assertThat(sent(server, "DELETE", "/b/data/f?uploadId=U")).isEqualTo(1);
      assertThat(sent(server, "POST", "/b/data/f?uploadId=U")).isZero();
    }
  }

  @Test
  void filesThatAreNotDeletedAreNamed() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.of(
        200,
        "<DeleteResult><Error><Key>data/g</Key><Code>AccessDenied</Code><Message>no</Message>"
            + "</Error></DeleteResult>"))) {
      assertThatThrownBy(() -> server.storage().deleteAll(List.of("f", "g")))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("1 of 2")
          .hasMessageContaining("s3://b/data/g")
          .hasMessageContaining("AccessDenied");
      assertThat(server.requests()).hasSize(1);
    }
  }

  @ParameterizedTest
  @CsvSource({"400,MissingContentMD5", "501,NotImplemented"})
  void aServerThatCannotDeleteManyDeletesOneByOne(int status, String code) throws IOException {
    try (ScriptedServer server = new ScriptedServer(
        request -> request.is("POST") ? Answer.error(status, code) : Answer.of(204, ""))) {
      server.storage().deleteAll(List.of("f", "g"));
      assertThat(sent(server, "DELETE", "/b/data/f")).isEqualTo(1);
      assertThat(sent(server, "DELETE", "/b/data/g")).isEqualTo(1);
    }
  }
}
