package io.zrecord.storage.s3;

import io.zrecord.storage.StorageNames;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * The root of a storage in a bucket.
 *
 * @param written the location as the user wrote it, without a slash at its end
 * @param bucket its bucket
 * @param prefix what the keys of all objects begin with: empty, or with a slash at its end
 */
record S3Location(String written, String bucket, String prefix) {
  static final Set<String> SCHEMES = Set.of("s3", "s3a");

  private static final Pattern BUCKET = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]*");

  /**
   * Reads a location such as {@code s3://bucket/prefix}, which is not encoded.
   *
   * @throws IllegalArgumentException if there is no bucket, the location has credentials in it, or
   *     a part of the prefix is not allowed
   */
  static S3Location parse(String location) {
    int colon = location.indexOf("://");
    String scheme = colon < 0 ? "" : location.substring(0, colon).toLowerCase(Locale.ROOT);
    if (!SCHEMES.contains(scheme)) {
      throw new IllegalArgumentException(
          "Location '" + withoutUser(location) + "' is none of S3; write s3://bucket/prefix");
    }
    String written = location.replaceFirst("(?<!:/)/+$", "");
    String rest = written.substring(Math.min(written.length(), colon + 3));
    int slash = rest.indexOf('/');
    String bucket = slash < 0 ? rest : rest.substring(0, slash);
    // A secret may have a slash in it.
    if (bucket.indexOf('@') >= 0 || (bucket.indexOf(':') >= 0 && rest.indexOf('@') >= 0)) {
      throw new IllegalArgumentException("A location must not have credentials in it: "
          + withoutUser(location) + "; give them by the environment or by ~/.aws/credentials");
    }
    if (!BUCKET.matcher(bucket).matches()) {
      throw new IllegalArgumentException("Location '" + written + "' has the bucket '" + bucket
          + "', which is no name of a bucket; write s3://bucket/prefix");
    }
    return new S3Location(
        written, bucket, slash < 0 ? "" : checked(rest.substring(slash + 1), written) + "/");
  }

  private static String checked(String prefix, String written) {
    List<String> parts = StorageNames.parts(prefix, written);
    return String.join("/", parts);
  }

  private static String withoutUser(String location) {
    int at = location.lastIndexOf('@');
    int start = location.indexOf("://");
    return at < 0
        ? location
        : location.substring(0, start < 0 ? 0 : start + 3) + "…" + location.substring(at);
  }

  /**
   * Returns the key of a file.
   *
   * @throws IllegalArgumentException if the name could leave the root
   */
  String key(String name) {
    StorageNames.parts(name, written);
    return prefix + name;
  }

  /** Returns what the keys of all files in a directory begin with; {@code ""} is the root. */
  String directoryPrefix(String name) {
    return name.isEmpty() ? prefix : key(name) + "/";
  }

  /** Returns the full path of a name, for messages. */
  String path(String name) {
    return name.isEmpty() ? written : written + "/" + name;
  }

  /** Returns the bucket with the prefix, which names the same objects however they are written. */
  String prefixInBucket() {
    return bucket + "/" + prefix;
  }
}
