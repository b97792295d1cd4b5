package io.zrecord.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Storages;
import io.zrecord.errors.StorageException;
import io.zrecord.storage.Storage;
import io.zrecord.testing.JavaProcess;
import java.io.IOException;
import java.net.URI;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.s3.S3Client;

final class S3OptionsTest {
  @Test
  void optionsAreRead() {
    S3Options options = S3Options.parse(Map.of(
        "endpoint", "http://127.0.0.1:9000",
        "region", "eu-central-1",
        "pathStyle", "false",
        "anonymous", "true"));
    assertThat(options.endpoint()).contains(URI.create("http://127.0.0.1:9000"));
    assertThat(options.region()).contains("eu-central-1");
    assertThat(options.isPathStyle()).contains(false);
    assertThat(options.isAnonymous()).isTrue();
  }

  @Test
  void anOptionThatIsNotKnownIsRefusedWithThoseThatAre() {
    assertThatThrownBy(() -> S3Options.parse(Map.of("secretKey", "s3cret")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'secretKey'")
        .hasMessageContaining("anonymous, endpoint, pathStyle, region, requesterPays, retrySeconds")
        .hasMessageContaining("no options")
        .hasMessageNotContaining("s3cret");
  }

  @ParameterizedTest
  @CsvSource({
    "pathStyle,yes,'true' or 'false'",
    "anonymous,TRUE,'true' or 'false'",
    "requesterPays,1,'true' or 'false'",
    "endpoint,localhost:9000,http://host:port",
    "endpoint,ftp://host,http://host:port",
    "endpoint,http://a b,http://host:port",
    "region,' ',empty",
    "retrySeconds,-1,from 0",
    "retrySeconds,2m,from 0",
    "retrySeconds,86401,to 86400",
  })
  void aValueThatIsNotAllowedIsRefused(String name, String value, String remedy) {
    assertThatThrownBy(() -> S3Options.parse(Map.of(name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + name + "'")
        .hasMessageContaining(remedy.replaceAll("^'|'$", remedy.contains(" or ") ? "'" : ""));
  }

  @Test
  void whoAsksWithoutASignatureCannotPay() {
    assertThatThrownBy(() -> S3Options.parse(Map.of("anonymous", "true", "requesterPays", "true")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'anonymous' and 'requesterPays'");
  }

  @ParameterizedTest
  @CsvSource({"true,requester", "false,''"})
  void whoPaysIsSaidWithEachRequest(String option, String said) throws IOException {
    System.setProperty("aws.accessKeyId", "me");
    System.setProperty("aws.secretAccessKey", "s3cret");
    try (ScriptedServer server = new ScriptedServer(request -> ScriptedServer.Answer.of(200, ""))) {
      Storage storage = new S3StorageProvider()
          .open("s3://b/data", Map.of("endpoint", server.endpoint(), "requesterPays", option));
      storage.read("f", 9);
      storage.exists("f");
      storage.replace("f", new byte[3]);
      storage.delete("f");
      assertThat(server.requests())
          .extracting(ScriptedServer.Request::method)
          .contains("GET", "PUT", "DELETE");
      assertThat(server.requests())
          .allSatisfy(
              request -> assertThat(request.header("x-amz-request-payer")).isEqualTo(said));
    } finally {
      System.clearProperty("aws.accessKeyId");
      System.clearProperty("aws.secretAccessKey");
    }
  }

  @Test
  void anEndpointWithCredentialsIsRefusedWithoutRepeatingThem() {
    assertThatThrownBy(() -> S3Options.parse(Map.of("endpoint", "http://me:s3cret@host:9000")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("credentials")
        .hasMessageNotContaining("s3cret");
  }

  @ParameterizedTest
  @CsvSource({
    "http://127.0.0.1:9000, http://127.0.0.1:9000/bucket/key",
    "https://s3.eu-west-1.amazonaws.com, https://bucket.s3.eu-west-1.amazonaws.com/key",
  })
  void aServerThatIsNotAmazonsHasTheBucketInThePath(String endpoint, String url) {
    assertThat(url(Map.of("endpoint", endpoint, "region", "eu-west-1"))).isEqualTo(url);
  }

  @Test
  void anEndpointOfTheEnvironmentIsUsed() {
    System.setProperty("aws.endpointUrl", "http://127.0.0.1:9000");
    try {
      assertThat(url(Map.of())).isEqualTo("http://127.0.0.1:9000/bucket/key");
    } finally {
      System.clearProperty("aws.endpointUrl");
    }
  }

  @Test
  void theWayOfAddressingCanBeChosen() {
    assertThat(url(Map.of("endpoint", "http://host:9000", "pathStyle", "false")))
        .isEqualTo("http://bucket.host:9000/key");
    assertThat(url(Map.of("region", "eu-west-1", "pathStyle", "true")))
        .isEqualTo("https://s3.eu-west-1.amazonaws.com/bucket/key");
  }

  @Test
  void storagesWithTheSameOptionsShareAClient() {
    Map<String, String> options = Map.of("endpoint", "http://127.0.0.1:9");
    assertThat(S3Connection.shared(S3Options.parse(options)))
        .isSameAs(S3Connection.shared(S3Options.parse(options)))
        .isNotSameAs(S3Connection.shared(
            S3Options.parse(Map.of("endpoint", "http://127.0.0.1:9", "anonymous", "true"))));
  }

  private static String url(Map<String, String> options) {
    try (S3Client client = S3Clients.create(S3Options.parse(options))) {
      return client
          .utilities()
          .getUrl(request -> request.bucket("bucket").key("key"))
          .toString();
    }
  }

  /** In a process without settings, whatever those of this one are. */
  @Test
  void aRegionThatIsNotFoundIsNamedWithTheRemedy() throws Exception {
    JavaProcess.Result result = JavaProcess.of(Opening.class)
        .option("-Daws.disableEc2Metadata=true")
        .after("unset AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_ENDPOINT_URL"
            + " && export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null")
        .run("s3://bucket/table");
    assertThat(result.exitCode()).as(result.output()).isZero();
    assertThat(result.output())
        .contains("StorageException: Cannot open s3://bucket/table: no region was found")
        .contains("AWS_REGION");
  }

  /** Opens a storage. */
  static final class Opening {
    private Opening() {}

    public static void main(String[] arguments) {
      try {
        System.out.println(Storages.at(arguments[0]));
      } catch (StorageException e) {
        System.out.println(e);
      }
    }
  }
}
