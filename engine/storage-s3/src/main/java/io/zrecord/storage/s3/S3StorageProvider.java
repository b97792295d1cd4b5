package io.zrecord.storage.s3;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageProvider;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Opens storages at {@code s3://bucket/prefix} and {@code s3a://bucket/prefix}. Thread-safe.
 *
 * <p>Credentials, the region and the endpoint come from where the AWS SDK looks for them: system
 * properties, the environment ({@code AWS_ACCESS_KEY_ID}, {@code AWS_REGION},
 * {@code AWS_ENDPOINT_URL}, …), the files in {@code ~/.aws}, and the machine. These options
 * override them:
 *
 * <ul>
 *   <li>{@code endpoint}: URL of the server, such as {@code http://127.0.0.1:9000}
 *   <li>{@code region}: such as {@code eu-central-1}; for a server that is not Amazon's,
 *       {@code us-east-1} if neither the option nor the environment says so
 *   <li>{@code pathStyle}: whether the bucket is a part of the path instead of the host's name,
 *       {@code true} or {@code false}; by default {@code true} for a server that is not Amazon's
 *   <li>{@code anonymous}: whether requests are not signed, {@code true} or {@code false}, which is
 *       the default
 *   <li>{@code requesterPays}: whether each request says that who asks pays, as buckets with
 *       Requester Pays demand, {@code true} or {@code false}, which is the default
 *   <li>{@code retrySeconds}: how long about a request is tried again whose failure may pass, such
 *       as that of a server that restarts, 0 to 86,400; by default 120, or as often as
 *       {@code AWS_MAX_ATTEMPTS} says
 * </ul>
 *
 * <p>Storages with the same options share one client of the SDK, for as long as the process lives.
 */
public final class S3StorageProvider implements StorageProvider {

  /** Makes a provider, for {@link java.util.ServiceLoader}. */
  public S3StorageProvider() {}

  @Override
  public Set<String> schemes() {
    return S3Location.SCHEMES;
  }

  @Override
  public Storage open(String location, Map<String, String> options) {
    S3Location parsed = S3Location.parse(location);
    S3Options settings = S3Options.parse(options);
    try {
      return new S3Storage(parsed, S3Connection.shared(settings));
    } catch (SdkException e) {
      throw S3Errors.ofSettings(parsed.written(), e);
    }
  }
}
