package io.zrecord.storage.s3;

import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;

/** Makes clients of the SDK. Stateless. */
final class S3Clients {
  /** Threads of the engine ask 256 times at a time; hedged reads and uploads come on top. */
  private static final int CONNECTIONS = 640;

  private static final Duration CONNECT = Duration.ofSeconds(5);
  private static final Duration SILENCE = Duration.ofSeconds(30);
  private static final Duration WAIT_FOR_CONNECTION = Duration.ofSeconds(60);

  private S3Clients() {}

  /** Makes a client. The caller closes the client. */
  static S3Client create(S3Options options) {
    S3ClientBuilder builder = S3Client.builder()
        .httpClientBuilder(Apache5HttpClient.builder()
            .maxConnections(CONNECTIONS)
            .connectionTimeout(CONNECT)
            .socketTimeout(SILENCE)
            .connectionAcquisitionTimeout(WAIT_FOR_CONNECTION))
        .overrideConfiguration(o -> {
          o.retryStrategy(S3Retries.of(options));
          if (options.isRequesterPaying()) {
            o.putHeader("x-amz-request-payer", "requester");
          }
        })
        // Servers that are not Amazon's know neither checksums in trailers nor chunks with
        // signatures. The engine has checksums of its own.
        .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
        .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
        .serviceConfiguration(
            S3Configuration.builder().chunkedEncodingEnabled(false).build());
    options.endpoint().ifPresent(builder::endpointOverride);
    if (options.isAnonymous()) {
      builder.credentialsProvider(AnonymousCredentialsProvider.create());
    }
    boolean isForeign = endpoint(options).filter(S3Clients::isForeign).isPresent();
    options
        .region()
        .or(() -> isForeign ? Optional.of(regionOfForeign()) : Optional.empty())
        .ifPresent(name -> builder.region(Region.of(name)));
    builder.forcePathStyle(options.isPathStyle().orElse(isForeign));
    return builder.build();
  }

  /** Returns the endpoint of the options, or the one that the SDK finds in the environment. */
  private static Optional<URI> endpoint(S3Options options) {
    if (options.endpoint().isPresent()) {
      return options.endpoint();
    }
    try (S3Client probe = S3Client.builder()
        .region(Region.US_EAST_1)
        .credentialsProvider(AnonymousCredentialsProvider.create())
        .build()) {
      return probe.serviceClientConfiguration().endpointOverride();
    }
  }

  private static boolean isForeign(URI endpoint) {
    String host = String.valueOf(endpoint.getHost()).toLowerCase(Locale.ROOT);
    return !host.endsWith(".amazonaws.com") && !host.endsWith(".amazonaws.com.cn");
  }

  /** Returns the region in the environment, without a look at the machine, which may take long. */
  private static String regionOfForeign() {
    try {
      return new AwsRegionProviderChain(
              new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
          .getRegion()
          .id();
    } catch (SdkClientException e) {
      return Region.US_EAST_1.id();
    }
  }
}
