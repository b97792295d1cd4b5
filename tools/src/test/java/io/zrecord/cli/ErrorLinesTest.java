package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.cli.console.ErrorLines;
import io.zrecord.cli.console.ExitCodes;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** What is printed, and with which exit code, when a command ends otherwise than by returning. */
class ErrorLinesTest {
  private final StringWriter err = new StringWriter();

  @Command(name = "failing")
  private record Failing(Throwable failure) implements Callable<Integer> {
    @Override
    public Integer call() throws Exception {
      if (failure instanceof Error error) {
        throw error;
      }
      throw (Exception) failure;
    }
  }

  private int execute(Throwable failure) {
    CommandLine command = ErrorLines.commandLine(new Failing(failure));
    command.setErr(new PrintWriter(err));
    return ErrorLines.execute(command);
  }

  @Test
  void anErrorOfTheVirtualMachineIsNotDamage() {
    assertThat(execute(new OutOfMemoryError("Java heap space"))).isEqualTo(ExitCodes.FAILED);
    assertThat(err).hasToString("zrecord: java.lang.OutOfMemoryError: Java heap space\n");
  }

  @Test
  void whatSomebodyCancelledIsNoInternalError() {
    assertThat(execute(new CancellationException("Interrupted"))).isEqualTo(ExitCodes.FAILED);
    assertThat(err).hasToString("zrecord: Interrupted\n");
  }

  @Test
  void whatIsNotForeseenSaysWhereToLook() {
    assertThat(execute(new IllegalStateException("odd"))).isEqualTo(ExitCodes.FAILED);
    assertThat(err.toString()).startsWith("zrecord: Internal error: ").contains("the log says");
  }
}
