package io.zrecord.cli;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;

/** Runs a command in this process and keeps what it says. */
final class Cli {
  private static final Pattern PROGRESS = Pattern.compile("(?m)^\\w+: \\d+ of \\d+ MiB\\R");

  private Cli() {}

  /** What a command said. */
  record Said(int exitCode, String out, String err) {
    List<String> lines() {
      return out.lines().toList();
    }
  }

  static Said run(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine line = Zrecord.commandLine();
    line.setOut(new PrintWriter(out, true));
    line.setErr(new PrintWriter(err, true));
    int exitCode = line.execute(Stream.of(arguments).map(String::valueOf).toArray(String[]::new));
    return new Said(exitCode, out.toString(), withoutProgress(err.toString()));
  }

  /** Returns lines without those of progress: how many there are depends on the machine. */
  static String withoutProgress(String lines) {
    return PROGRESS.matcher(lines).replaceAll("");
  }

  /** The same, with an answer on the standard input. */
  static Said runAnswering(String answer, Object... arguments) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)));
    try {
      return run(arguments);
    } finally {
      System.setIn(before);
    }
  }
}
