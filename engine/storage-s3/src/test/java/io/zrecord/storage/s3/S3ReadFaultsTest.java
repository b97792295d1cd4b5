package io.zrecord.storage.s3;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.s3.ScriptedServer.Answer;
import io.zrecord.storage.s3.ScriptedServer.Request;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a reader tells of servers that fail, and how many requests reading takes. */
final class S3ReadFaultsTest {
  private static final String TEN = "0123456789";

  private static Answer part(String content) {
    return Answer.of(206, content).with("ETag", "\"one\"");
  }

  private static String region(ScriptedServer server, long position, int lengthBytes) {
    try (ReadableFile file = server.storage().open("f", 100)) {
      ByteBuffer region = file.region(position, lengthBytes);
      return UTF_8.decode(region).toString();
    }
  }

  @Test
  void openingAFileOfAKnownLengthAsksNothing() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> part(TEN));
        ReadableFile file = server.storage().open("f", 100)) {
      assertThat(file.region(100, 0).remaining()).isZero();
      assertThat(server.requests()).isEmpty();
      file.region(20, 10);
      assertThat(server.requests()).singleElement().satisfies(request -> {
        assertThat(request.target()).isEqualTo("/b/data/f");
        assertThat(request.header("Range")).isEqualTo("bytes=20-29");
      });
    }
  }

  @Test
  void readingASmallFileIsOneRequest() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.of(200, TEN))) {
      assertThat(server.storage().read("f", 10)).asString(UTF_8).isEqualTo(TEN);
      assertThat(server.requests()).extracting(Request::method).containsExactly("GET");
      assertThatThrownBy(() -> server.storage().read("f", 9))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("10 bytes")
          .hasMessageContaining("at most 9");
    }
  }

  @Test
  void anEmptyFileIsRead() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.of(200, ""))) {
      assertThat(server.storage().read("f", 9)).isEmpty();
    }
  }

  @Test
  void anAnswerThatBreaksOffIsAskedForAgain() throws IOException {
    AtomicInteger asked = new AtomicInteger();
    try (ScriptedServer server = new ScriptedServer(
        request -> asked.incrementAndGet() < 3 ? part("01234").telling(10) : part(TEN))) {
      assertThat(region(server, 20, 10)).isEqualTo(TEN);
      assertThat(server.requests()).hasSize(3);
    }
  }

  @Test
  void anErrorNamesTheObjectTheRangeAndTheTries() throws IOException {
    try (ScriptedServer server = new ScriptedServer(
        request -> Answer.error(500, "InternalError").with("x-amz-request-id", "R1"))) {
      assertThatThrownBy(() -> region(server, 20, 10))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("bytes 20 to 30 of s3://b/data/f")
          .hasMessageContaining("500 InternalError: says the test")
          .hasMessageContaining("request R1")
          .hasMessageContaining("tried 5 times");
      assertThat(server.requests()).hasSize(5);
    }
  }

  @Test
  void aConnectionThatBreaksEachTimeIsAnErrorOfTheStorage() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> part("01234").telling(10))) {
      assertThatThrownBy(() -> region(server, 20, 10))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("bytes 20 to 30 of s3://b/data/f")
          .hasMessageContaining("tried 5 times");
      assertThat(server.requests()).hasSize(5);
    }
  }

  @Test
  void anObjectThatEndsWithinTheRangeIsTruncated() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> part("01234"))) {
      assertThatThrownBy(() -> region(server, 20, 10))
          .isInstanceOf(TruncatedFileException.class)
          .hasMessageContaining("bytes 20 to 30 of s3://b/data/f")
          .hasMessageContaining("5 bytes");
    }
  }

  @Test
  void anObjectThatEndsBeforeTheRangeIsTruncated() throws IOException {
    refused(416, "InvalidRange", TruncatedFileException.class, "bytes 20 to 30");
  }

  @Test
  void whatIsMissingOrForbiddenOrElsewhereIsSaid() throws IOException {
    refused(404, "NoSuchKey", MissingFileException.class, "no such object");
    refused(404, "NoSuchBucket", StorageException.class, "no such bucket");
    refused(403, "AccessDenied", FileUnavailableException.class, "s3:ListBucket");
    refused(301, "PermanentRedirect", StorageException.class, "option 'region'");
  }

  private static void refused(
      int status, String code, Class<? extends Exception> error, String words) throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.error(status, code))) {
      assertThatThrownBy(() -> region(server, 20, 10))
          .isInstanceOf(error)
          .hasMessageContaining("s3://b/data/f")
          .hasMessageContaining(words);
      assertThat(server.requests()).hasSize(1);
    }
  }

  @Test
  void aServerThatIgnoresRangesIsNoServerToReadFrom() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.of(200, TEN.repeat(10)))) {
      assertThatThrownBy(() -> region(server, 20, 10))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("ignores ranges");
    }
  }

  @Test
  void anObjectThatIsReplacedBetweenTwoReadsIsFound() throws IOException {
    Function<Request, Answer> enforcing = request ->
        request.header("If-Match").isEmpty() ? part(TEN) : Answer.error(412, "PreconditionFailed");
    Function<Request, Answer> ignoring = request ->
        request.header("If-Match").isEmpty() ? part(TEN) : part(TEN).with("ETag", "\"two\"");
    for (Function<Request, Answer> script : java.util.List.of(enforcing, ignoring)) {
      try (ScriptedServer server = new ScriptedServer(script);
          ReadableFile file = server.storage().open("f", 100)) {
        file.region(20, 10);
        assertThatThrownBy(() -> file.region(30, 10))
            .isInstanceOf(CorruptDataException.class)
            .hasMessageContaining("bytes 30 to 40 of s3://b/data/f")
            .hasMessageContaining("another object");
        assertThat(server.requests().get(1).header("If-Match")).isEqualTo("\"one\"");
      }
    }
  }

  @Test
  void anObjectThatStaysIsReadOn() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> part(TEN));
        ReadableFile file = server.storage().open("f", 100)) {
      file.region(20, 10);
      assertThat(file.region(30, 10).remaining()).isEqualTo(10);
    }
  }

  @Test
  void aServerThatIsNotThereIsAnErrorOfTheNetwork() throws IOException {
    // Bound, so that nobody else gets the port, and not listening, so that it refuses.
    try (Socket bound = new Socket()) {
      bound.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      String endpoint = "http://127.0.0.1:" + bound.getLocalPort();
      assertThatThrownBy(() -> io.zrecord.Storages.at(
                  "s3://b/data",
                  java.util.Map.of("endpoint", endpoint, "anonymous", "true", "retrySeconds", "1"))
              .exists("f"))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("s3://b/data/f")
          .hasMessageContaining("tried 5 times")
          .hasMessageContaining("Check the endpoint");
    }
  }

  @ParameterizedTest
  @CsvSource({
    "400, ExpiredToken, have expired, AWS_SESSION_TOKEN",
    "400, InvalidToken, does not know the credentials, AWS_PROFILE",
    "403, InvalidAccessKeyId, does not know the credentials, AWS_ACCESS_KEY_ID",
    "403, SignatureDoesNotMatch, does not know the credentials, AWS_SECRET_ACCESS_KEY",
    "403, RequestTimeTooSkewed, RequestTimeTooSkewed, clock",
    "403, AccessDenied, access is denied, policy"
  })
  void credentialsThatAreNotTakenAreNamedWithTheRemedy(
      int status, String code, String cause, String remedy) throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> Answer.error(status, code))) {
      assertThatThrownBy(() -> server.storage().read("f", 10))
          .isInstanceOf(FileUnavailableException.class)
          .hasMessageContaining("s3://b/data/f")
          .hasMessageContaining(cause)
          .hasMessageContaining(remedy)
          .hasMessageNotContaining("Try again later");
    }
  }

  @Test
  void anInterruptedReaderSaysSo() throws IOException {
    try (ScriptedServer server = new ScriptedServer(request -> part(TEN))) {
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> region(server, 20, 10))
          .isInstanceOf(FileUnavailableException.class)
          .hasMessageContaining("interrupted");
      assertThat(Thread.interrupted()).as("is still interrupted").isTrue();
      Thread.currentThread().interrupt();
      assertThatThrownBy(() -> server.storage().read("f", 10))
          .isInstanceOf(FileUnavailableException.class)
          .hasMessageContaining("interrupted");
      assertThat(Thread.interrupted()).as("is still interrupted").isTrue();
    }
  }
}
