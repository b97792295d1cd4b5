package io.zrecord.spark.path;

import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Gives the locations of one place on a remote storage one form, for comparisons. A storage may
 * have several schemes, and a port need not be named. Opens nothing. Stateless.
 */
final class UniformLocation {
  private static final Pattern LOCATION =
      Pattern.compile("([A-Za-z][A-Za-z0-9+.-]*)://([^/]*)(.*)");

  /** Schemes that name the same objects as another scheme. */
  private static final Map<String, String> SAME =
      Map.of("s3", "s3a", "s3n", "s3a", "abfss", "abfs", "wasbs", "wasb");

  /** Ports that are meant where none is named. */
  private static final Map<String, String> PORTS = Map.of("hdfs", ":8020");

  private UniformLocation() {}

  /** Returns the form of a location, which may be no location that can be opened. */
  static String of(String location) {
    Matcher parts = LOCATION.matcher(location);
    if (!parts.matches()) {
      return location;
    }
    String named = parts.group(1).toLowerCase(Locale.ROOT);
    String scheme = SAME.getOrDefault(named, named);
    String authority = parts.group(2);
    String port = PORTS.get(scheme);
    if (port != null) {
      // Hosts are compared without case. Names of buckets are not.
      String host = authority.toLowerCase(Locale.ROOT);
      authority = host.endsWith(port) ? host.substring(0, host.length() - port.length()) : host;
    }
    return scheme + "://" + authority + parts.group(3);
  }
}
