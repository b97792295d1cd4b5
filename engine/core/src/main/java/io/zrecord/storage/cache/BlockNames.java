package io.zrecord.storage.cache;

import java.util.regex.Pattern;

/** The names of the files that a cache writes. Stateless. */
final class BlockNames {
  private static final String BLOCK = "zr-[0-9a-f]{32}\\.block";
  private static final Pattern BLOCKS = Pattern.compile(BLOCK);
  private static final Pattern UNFINISHED =
      Pattern.compile("\\." + BLOCK + "\\.[0-9a-f-]{36}\\.tmp");

  private BlockNames() {}

  static String of(String hash) {
    return "zr-" + hash + ".block";
  }

  static boolean isBlock(String name) {
    return BLOCKS.matcher(name).matches();
  }

  /** Tells whether the name is that of a file that a process had begun to write. */
  static boolean isUnfinished(String name) {
    return UNFINISHED.matcher(name).matches();
  }
}
