package io.zrecord.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.FileUnavailableException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import io.zrecord.testing.FaultyProxy;
import io.zrecord.testing.HttpFault;
import io.zrecord.testing.HttpRequest;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the calls of a storage ask of a store of objects. */
final class S3aRequestsTest {
  private static S3Server server;
  private FaultyProxy proxy;
  private Storage storage;

  @BeforeAll
  static void start() throws IOException {
    server = S3Server.ofProcess();
  }

  @BeforeEach
  void open() throws IOException {
    proxy = FaultyProxy.before(ImpatientS3a.endpoint(server));
    storage = ImpatientS3a.storage(server, proxy.endpoint(), "data of " + UUID.randomUUID());
  }

  @AfterEach
  void close() throws IOException {
    proxy.close();
  }

  /** Returns the requests of a call as method and range. */
  private List<String> requestsOf(Runnable call) {
    proxy.heal();
    call.run();
    return proxy.requests().stream()
        .map(request -> (request.method() + " " + request.range()).strip())
        .toList();
  }

  @Test
  void aSmallFileIsReadWithOneRequestWhateverItsLength() {
    for (int length : new int[] {0, 1, 1 << 16, (1 << 17) + 1}) {
      byte[] content = "x".repeat(length).getBytes(UTF_8);
      storage.publish("m/" + length, content);
      assertThat(
              requestsOf(() -> assertThat(storage.read("m/" + length, 1 << 20)).isEqualTo(content)))
          .containsExactly("GET bytes=0-" + (1 << 20));
    }
    assertThat(requestsOf(() -> assertThatThrownBy(() -> storage.read("m/no", 10))
            .isInstanceOf(MissingFileException.class)))
        .containsExactly("GET bytes=0-10");
    assertThatThrownBy(() -> storage.read("m/65536", 65535))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("65536 bytes, at most 65535");
  }

  @Test
  void aRegionIsOneRequestForItsBytesAndNoOther() {
    storage.publish("f", new byte[1 << 20]);
    for (int read = 0; read < 2; read++) {
      assertThat(requestsOf(() -> storage.open("f", 1 << 20).region(100_000, 5000)))
          .containsExactly("GET bytes=100000-104999");
      assertThat(proxy.responseBytes()).isEqualTo(5000);
    }
    assertThatThrownBy(() -> storage.open("f", 2 << 20).region(3 << 19, 10))
        .isInstanceOf(TruncatedFileException.class)
        .hasMessageContaining("bytes 1572864 to 1572874");
  }

  @Test
  void aFileIsWrittenWithoutAQuestionForItsName() {
    storage.publish("m/0", new byte[1]);
    assertThat(requestsOf(() -> {
          try (WritableFile file = storage.create("shard/x")) {
            file.write(ByteBuffer.wrap(new byte[5]));
            file.finish();
          }
        }))
        .containsExactly("PUT");
    assertThat(storage.lengthBytes("shard/x")).isEqualTo(5);
  }

  @Test
  void aLongFileIsWrittenInPartsOf16MiB() {
    storage.publish("m/0", new byte[1]);
    int length = 33 << 20;
    List<String> requests = requestsOf(() -> {
      try (WritableFile file = storage.create("shard/x")) {
        file.write(ByteBuffer.wrap(new byte[length]));
        file.finish();
      }
    });
    assertThat(requests).containsExactly("POST", "PUT", "PUT", "PUT", "POST");
    assertThat(storage.lengthBytes("shard/x")).isEqualTo(length);
  }

  @ParameterizedTest
  @CsvSource({
    "400, ExpiredToken, have expired, fs.s3a.session.token",
    "400, InvalidToken, does not know the credentials, fs.s3a.access.key",
    "403, InvalidAccessKeyId, does not know the credentials, fs.s3a.access.key",
    "403, SignatureDoesNotMatch, does not know the credentials, fs.s3a.secret.key",
    "403, AccessDenied, access is denied, permissions"
  })
  void credentialsThatAreNotTakenAreNamedWithTheRemedy(
      int status, String code, String cause, String remedy) {
    proxy.inject(100, request -> true, HttpFault.refused(status, code));
    assertThatThrownBy(() -> storage.read("m/0", 10))
        .isInstanceOf(FileUnavailableException.class)
        .hasMessageContaining("m/0")
        .hasMessageContaining(cause)
        .hasMessageContaining(remedy);
  }

  @Test
  void aBucketThatIsNotThereIsNamed() {
    Configuration settings = server.settings();
    assertThatThrownBy(() -> HadoopStorage.at("s3a://nobucket/data", settings).read("m/0", 10))
        .isExactlyInstanceOf(StorageException.class)
        .hasMessageContaining("there is no such bucket");
    assertThatThrownBy(() -> HadoopStorage.at("s3a://my_bucket/data", settings))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'my_bucket'")
        .hasMessageContaining("'_'");
  }

  private void write(String name, int length) {
    try (WritableFile file = storage.create(name)) {
      file.write(ByteBuffer.wrap(new byte[length]));
      file.finish();
    }
  }

  private static boolean isLast(HttpRequest request) {
    return request.target().contains("/shard/x")
        && (request.method().equals("POST")
            ? request.target().contains("uploadId=")
            : request.method().equals("PUT") && !request.target().contains("uploadId="));
  }

  @ParameterizedTest
  @ValueSource(ints = {5, 17 << 20})
  void aDataFileWhoseAnswerWasLostIsFinished(int length) {
    storage.publish("m/0", new byte[1]);
    for (HttpFault fault : List.of(HttpFault.answerLost(), HttpFault.doneAnd(503, "SlowDown"))) {
      proxy.heal();
      proxy.inject(1, S3aRequestsTest::isLast, fault);
      write("shard/x", length);
      assertThat(proxy.faults()).isEqualTo(1);
      assertThat(storage.lengthBytes("shard/x")).isEqualTo(length);
      storage.delete("shard/x");
    }
    proxy.inject(100, S3aRequestsTest::isLast, HttpFault.refused(500, "InternalError"));
    assertThatThrownBy(() -> write("shard/x", length))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("shard/x");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void settingsOfTheUserAreKept(boolean isTask) throws IOException {
    Configuration settings = new Configuration();
    requireTuned(isTask ? sent(settings) : settings, "16M", "640");
    settings.set("fs.s3a.multipart.size", "100M");
    settings.set("fs.s3a.connection.maximum", "20");
    requireTuned(isTask ? sent(settings) : settings, "100M", "20");
  }

  private static void requireTuned(Configuration settings, String partBytes, String connections) {
    Configuration tuned = FileSystems.tuned(settings);
    assertThat(tuned.get("fs.s3a.multipart.size")).isEqualTo(partBytes);
    assertThat(tuned.get("fs.s3a.connection.maximum")).isEqualTo(connections);
  }

  /** Returns settings as Spark sends them to tasks. */
  private static Configuration sent(Configuration settings) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    settings.write(new DataOutputStream(bytes));
    Configuration read = new Configuration(false);
    read.readFields(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    return read;
  }

  @Test
  void allFilesOfATreeAreListedWithOneRequestAndDeletedWithOne() {
    List<String> names =
        IntStream.range(0, 12).mapToObj(i -> "d/" + i % 3 + "/" + i).toList();
    names.forEach(name -> storage.publish(name, new byte[7]));
    assertThat(requestsOf(() -> assertThat(storage.listTree("d"))
            .allMatch(file -> file.lengthBytes() == 7 && !file.isDirectory())
            .extracting(StoredFile::name)
            .containsExactlyInAnyOrderElementsOf(
                names.stream().map(name -> name.substring(2)).toList())))
        .containsExactly("GET");
    assertThat(storage.listTree("")).hasSize(12);
    assertThat(storage.listTree("nothing")).isEmpty();
    assertThat(requestsOf(() -> storage.deleteAll(names.subList(0, 11)))).containsExactly("POST");
    assertThat(storage.listTree("")).extracting(StoredFile::name).containsExactly("d/2/11");
    storage.deleteAll(List.of("d/2/11", "d/no"));
    assertThat(storage.list("")).isEmpty();
  }

  @Test
  void aStoreThatIgnoresTheConditionIsNotWrittenTo() {
    String[] probe = {""};
    // The object of the first publication is gone before the second one arrives.
    proxy.inject(1, request -> writesAgain(request, probe), exchange -> {
      direct().delete("list/" + probe[0].substring(probe[0].lastIndexOf('/') + 1));
      exchange.send(exchange.forward());
    });
    assertThatThrownBy(() -> storage.create("shard/x"))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("two writers")
        .hasMessageContaining("If-None-Match");
    assertThat(direct().listTree("")).isEmpty();
    assertThatThrownBy(() -> {
          proxy.heal();
          proxy.inject(9, HttpRequest::writes, HttpFault.refused(503, "SlowDown"));
          storage.publish("m/0", new byte[1]);
        })
        .isInstanceOf(StorageException.class)
        .isNotInstanceOf(CommitOutcomeUnknownException.class);
    proxy.heal();
    assertThat(storage.publish("m/0", new byte[1])).isTrue();
    assertThat(requestsOf(() -> storage.publish("m/1", new byte[1]))).containsExactly("PUT");
  }

  private static boolean writesAgain(HttpRequest request, String[] probe) {
    if (!request.method().equals("PUT")) {
      return false;
    }
    boolean isAgain = request.target().equals(probe[0]);
    probe[0] = request.target();
    return isAgain;
  }

  private Storage direct() {
    String root = storage.location();
    return ImpatientS3a.storage(
        server, ImpatientS3a.endpoint(server), root.substring(root.lastIndexOf('/') + 1));
  }

  @Test
  void errorsOfRequestsDoNotShowTheKeys() {
    proxy.inject(9, HttpRequest::readsObject, HttpFault.refused(403, "SignatureDoesNotMatch"));
    assertThatThrownBy(() -> storage.read("m/0", 10)).satisfies(failure -> {
      for (Throwable e = failure; e != null; e = e.getCause()) {
        assertThat(e.toString()).doesNotContain(server.settings().get("fs.s3a.secret.key"));
      }
    });
  }
}
