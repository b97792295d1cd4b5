package io.zrecord.testing;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A program in a process of its own, with the class path of this one. What it prints, on both streams, is kept. */
public final class JavaProcess {
  private final Class<?> program;
  private final List<String> options = new ArrayList<>();
  private List<String> launcher = List.of();

  /**
   * How it ended.
   *
   * @param exitCode above 128 if a signal killed it
   * @param output of both streams
   */
  public record Result(int exitCode, String output) {}

  private JavaProcess(Class<?> program) {
    this.program = program;
  }

  public static JavaProcess of(Class<?> program) {
    return new JavaProcess(program);
  }

  /** Adds an option of the virtual machine. */
  public JavaProcess option(String option) {
    options.add(option);
    return this;
  }

  /** Lets a shell do something first, such as {@code ulimit -n 256}. */
  public JavaProcess after(String shellCommand) {
    launcher = List.of("bash", "-c", shellCommand + " && exec \"$@\"", "bash");
    return this;
  }

  /** Waits for its end. */
  public Result run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.add(program.getName());
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    Process process = builder.start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(), output);
  }
}
