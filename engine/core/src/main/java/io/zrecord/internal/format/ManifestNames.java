package io.zrecord.internal.format;

import java.util.Collection;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of the files of a table's versions (FORMAT.md section 7). */
public final class ManifestNames {
  /** Directory of the versions. A directory without a version does not make a table. */
  public static final String DIRECTORY = "manifest";

  /** The file that tells where the newest version was seen. */
  public static final String HINT = DIRECTORY + "/latest";

  private static final Pattern NAME = Pattern.compile("(\\d{20})\\.json");
  private static final String LARGEST = "09223372036854775807";

  private ManifestNames() {}

  /** Returns the name of the file of a version, relative to the table. */
  public static String nameOf(long version) {
    return nameOf(DIRECTORY, version);
  }

  /** Returns the name of the file of a version in another directory, such as of a namespace. */
  public static String nameOf(String directory, long version) {
    String digits = Long.toString(version);
    return directory + "/" + "0".repeat(LARGEST.length() - digits.length()) + digits + ".json";
  }

  /** Tells whether files of the directory make a table, which takes at least one version. */
  public static boolean includeVersion(Collection<String> fileNames) {
    return fileNames.stream().anyMatch(name -> version(name).isPresent());
  }

  /** Returns the version of a file in the directory; empty for any other file. */
  public static OptionalLong version(String fileName) {
    Matcher matcher = NAME.matcher(fileName);
    return matcher.matches() && matcher.group(1).compareTo(LARGEST) <= 0
        ? OptionalLong.of(Long.parseLong(matcher.group(1)))
        : OptionalLong.empty();
  }
}
