package io.zrecord.internal.format;

import java.util.Collection;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Names of the files of a table's versions (FORMAT.md section 7). */
public final class ManifestNames {
  /** Directory of the versions. One without a version does not make a table. */
  public static final String DIRECTORY = "manifest";

  private static final Pattern NAME = Pattern.compile("(\\d{20})\\.json");
  private static final Pattern SET_ASIDE = Pattern.compile("(\\d{20}\\.json)\\.[^.]+\\.expiring");
  private static final String LARGEST = "09223372036854775807";

  private ManifestNames() {}

  /** Name of the file of a version, relative to the table. */
  public static String nameOf(long version) {
    return DIRECTORY + "/" + String.format(Locale.ROOT, "%020d", version) + ".json";
  }

  /** A name, relative to the table and never used before, under which the file of a version waits to be deleted. */
  public static String newAsideNameOf(long version) {
    return nameOf(version) + "." + UUID.randomUUID() + ".expiring";
  }

  /** The version whose file waits in the directory under such a name; empty if it is something else. */
  public static OptionalLong versionSetAside(String fileName) {
    Matcher matcher = SET_ASIDE.matcher(fileName);
    return matcher.matches() ? version(matcher.group(1)) : OptionalLong.empty();
  }

  /** Whether files of the directory make a table: one of them is a version. */
  public static boolean includeVersion(Collection<String> fileNames) {
    return fileNames.stream().anyMatch(name -> version(name).isPresent());
  }

  /** The version that a file in the directory is of; empty if it is something else. */
  public static OptionalLong version(String fileName) {
    Matcher matcher = NAME.matcher(fileName);
    return matcher.matches() && matcher.group(1).compareTo(LARGEST) <= 0
        ? OptionalLong.of(Long.parseLong(matcher.group(1)))
        : OptionalLong.empty();
  }
}
