package io.zrecord.cli;

import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.serving.EngineServer;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes for another process. */
@Command(
    name = "serve",
    description = {
      "Writes for a parent process, such as the Python package, and ends with it: see"
          + " io.zrecord.serving.EngineServer. Frames come by the standard input, and values by a"
          + " file in memory."
    })
final class ServeCommand extends Subcommand {
  @Option(
      names = "--share",
      required = true,
      paramLabel = "FILE",
      description = "file that the parent process puts values into")
  private @Nullable Path share;

  @Option(
      names = "--messages",
      required = true,
      paramLabel = "FILE",
      description = "pipe for the answers")
  private @Nullable Path messages;

  @Option(
      names = "--idle-seconds",
      paramLabel = "N",
      description = "time without a frame and without an open write after which the command ends "
          + "(default: ${DEFAULT-VALUE})")
  private int idleSeconds = 300;

  @Override
  public Integer call() throws IOException {
    Path memory = share;
    Path pipe = messages;
    if (memory == null || pipe == null || idleSeconds < 1) {
      throw misuse("--idle-seconds is " + idleSeconds + "; it must be 1 or more");
    }
    try (FileOutputStream out = new FileOutputStream(pipe.toFile());
        FileInputStream in = new FileInputStream(FileDescriptor.in)) {
      EngineServer.serve(
          memory,
          in,
          out,
          Duration.ofSeconds(idleSeconds),
          () -> Runtime.getRuntime().halt(ExitCodes.DONE));
    }
    return ExitCodes.DONE;
  }
}
