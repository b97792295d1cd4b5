package io.zrecord.cli.console;

import java.io.IOException;
import java.nio.file.Path;

/** Tells who reads the output. Stateless. */
public final class Terminal {
  /** Property set by a launcher that knows the answer. */
  private static final String PROPERTY = "zrecord.terminal";

  private Terminal() {}

  /**
   * Tells whether the standard error is a terminal, as far as is known. Without a launcher, this is
   * known on Linux only.
   */
  public static boolean isStandardError() {
    if (System.getProperty(PROPERTY) != null) {
      return Boolean.getBoolean(PROPERTY);
    }
    try {
      String device = Path.of("/proc/self/fd/2").toRealPath().toString();
      return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
    } catch (IOException e) {
      return false; // Either a pipe, which has no path, or another operating system.
    }
  }
}
