package io.zrecord.storage.s3;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The options of {@link S3StorageProvider}. No option is a secret. Values that are not given come
 * from the environment.
 */
record S3Options(
    Optional<URI> endpoint,
    Optional<String> region,
    Optional<Boolean> isPathStyle,
    boolean isAnonymous,
    boolean isRequesterPaying,
    Optional<Integer> retrySeconds) {
  private static final int MOST_RETRY_SECONDS = 86_400;

  private static final Set<String> NAMES = new TreeSet<>(
      Set.of("anonymous", "endpoint", "pathStyle", "region", "requesterPays", "retrySeconds"));

  /**
   * Reads options.
   *
   * @throws IllegalArgumentException if an option is not known, or its value not allowed
   */
  static S3Options parse(Map<String, String> options) {
    for (String name : new TreeMap<>(options).keySet()) {
      if (!NAMES.contains(name)) {
        throw new IllegalArgumentException("A storage on S3 has no option '" + name + "'; use "
            + String.join(", ", NAMES)
            + ". Credentials are no options: give them by the environment or by"
            + " ~/.aws/credentials");
      }
    }
    S3Options read = new S3Options(
        value(options, "endpoint").map(S3Options::url),
        value(options, "region"),
        value(options, "pathStyle").map(text -> truth("pathStyle", text)),
        value(options, "anonymous").map(text -> truth("anonymous", text)).orElse(false),
        value(options, "requesterPays")
            .map(text -> truth("requesterPays", text))
            .orElse(false),
        value(options, "retrySeconds").map(S3Options::retrySeconds));
    if (read.isAnonymous && read.isRequesterPaying) {
      throw new IllegalArgumentException("Options 'anonymous' and 'requesterPays' are both 'true',"
          + " but who asks without a signature cannot pay; leave one of them out");
    }
    return read;
  }

  private static Optional<String> value(Map<String, String> options, String name) {
    String value = options.get(name);
    if (value != null && value.isBlank()) {
      throw new IllegalArgumentException("Option '" + name + "' is empty; leave it out instead");
    }
    return Optional.ofNullable(value);
  }

  private static int retrySeconds(String text) {
    try {
      int seconds = Integer.parseInt(text);
      if (seconds >= 0 && seconds <= MOST_RETRY_SECONDS) {
        return seconds;
      }
    } catch (NumberFormatException e) {
      // The message below says what is allowed.
    }
    throw new IllegalArgumentException("Option 'retrySeconds' is '" + text
        + "'; use a whole number from 0, which tries once, to " + MOST_RETRY_SECONDS);
  }

  private static URI url(String text) {
    String problem = "no URL of a server";
    try {
      URI url = new URI(text);
      if (url.getRawUserInfo() != null) {
        throw new IllegalArgumentException("Option 'endpoint' must not have credentials in it;"
            + " give them by the environment or by ~/.aws/credentials");
      }
      if (url.getHost() != null && Set.of("http", "https").contains(url.getScheme())) {
        return url;
      }
    } catch (URISyntaxException e) {
      problem = e.getReason();
    }
    throw new IllegalArgumentException("Option 'endpoint' is '" + text + "': " + problem
        + "; write http://host:port or https://host:port");
  }

  private static boolean truth(String name, String text) {
    return switch (text) {
      case "true" -> true;
      case "false" -> false;
      default ->
        throw new IllegalArgumentException(
            "Option '" + name + "' is '" + text + "'; use 'true' or 'false'");
    };
  }
}
