package io.zrecord.rebalance;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Java processes of a test's own, to be killed. */
final class ChildProcess {
  private ChildProcess() {}

  /** Starts the main program of a class with this class path; what it prints is read by the caller. */
  static Process start(Class<?> main, String... arguments) throws IOException {
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-Xmx128m",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command)
        .redirectError(ProcessBuilder.Redirect.INHERIT)
        .start();
  }
}
