package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A program in a process of its own, with the class path and the {@link Budget} of this one. The
 * process ends within a second of this one, however this one ends.
 */
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

  /**
   * Takes options for processes that live a short time. They mostly load classes, so classes are
   * not verified there.
   */
  public JavaProcess small() {
    return option("-Xmx128m")
        .option("-XX:+UseSerialGC")
        .option("-XX:TieredStopAtLevel=1")
        .option("-XX:+UnlockDiagnosticVMOptions")
        .option("-XX:-BytecodeVerificationRemote");
  }

  /** Waits for its end, and keeps what it prints on both streams. */
  public Result run(String... arguments) throws IOException, InterruptedException {
    Process process = builder(arguments).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    return new Result(process.waitFor(), output);
  }

  /** Starts the process; the caller reads what it prints, except its errors. */
  public Process start(String... arguments) throws IOException {
    return builder(arguments).redirectError(Redirect.INHERIT).start();
  }

  private ProcessBuilder builder(String... arguments) {
    List<String> command = new ArrayList<>(launcher);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(options);
    command.addAll(List.of(Budget.properties().split(" ")));
    command.addAll(ChildProgram.command(program.getName()));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("CLASSPATH", System.getProperty("java.class.path"));
    return builder;
  }

  /** Sends SIGKILL. What the process had said can still be read. */
  public static void kill(Process process) {
    // Not of the process itself: that would close its streams.
    process.toHandle().destroyForcibly();
  }

  /** Sends SIGKILL after a time, at a moment more exact than that of a sleep. */
  public static void killAfter(Process process, long nanos) {
    long end = System.nanoTime() + nanos;
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
    kill(process);
  }

  /** Waits for its end, which must be the kill. */
  public static void requireKilled(Process process) throws InterruptedException {
    assertThat(process.waitFor()).as("it ends by the kill only").isEqualTo(128 + 9);
  }
}
