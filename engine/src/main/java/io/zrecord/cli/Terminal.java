package io.zrecord.cli;

import java.io.IOException;
import java.nio.file.Path;

/** Who reads what is printed. Stateless. */
public final class Terminal {
  /** Set by a launcher that knows. */
  private static final String PROPERTY = "zrecord.terminal";

  private Terminal() {}

  /** Whether the standard error is a terminal, as far as can be told: without a launcher on Linux only. */
  public static boolean isStandardError() {
    if (System.getProperty(PROPERTY) != null) {
      return Boolean.getBoolean(PROPERTY);
    }
    try {
      String device = Path.of("/proc/self/fd/2").toRealPath().toString();
      return device.startsWith("/dev/pts/") || device.startsWith("/dev/tty");
    } catch (IOException e) {
      return false; // A pipe, which has no path, or another operating system.
    }
  }
}
