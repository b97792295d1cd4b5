package io.zrecord.cli.console;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.NotADatasetException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.errors.ValueTooLargeException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.concurrent.CancellationException;
import java.util.function.BooleanSupplier;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/** Prints an error as one line and returns the exit code. */
public final class ErrorLines implements IExecutionExceptionHandler, IParameterExceptionHandler {
  private final BooleanSupplier printsStackTraces;
  private final String remedy;

  public ErrorLines(BooleanSupplier printsStackTraces) {
    this(printsStackTraces, "run it again with --stacktrace and report what it prints");
  }

  private ErrorLines(BooleanSupplier printsStackTraces, String remedy) {
    this.printsStackTraces = printsStackTraces;
    this.remedy = remedy;
  }

  /**
   * Returns a separate command whose errors are printed as lines, for one execution. Unforeseen
   * errors are logged with their stack trace.
   */
  public static CommandLine commandLine(Object command) {
    ErrorLines errors = new ErrorLines(() -> false, "the log says where it came from");
    return new CommandLine(command)
        .setExecutionExceptionHandler(errors)
        .setParameterExceptionHandler(errors);
  }

  /**
   * Runs a command with its errors, including errors of the virtual machine. Returns the exit code.
   */
  public static int execute(CommandLine command, String... args) {
    try {
      return command.execute(args);
    } catch (Error e) {
      // The parser passes on exceptions only; the launcher would end with the code for damaged
      // data.
      LoggerFactory.getLogger(ErrorLines.class).error("Not foreseen", e);
      command.getErr().println("zrecord: " + Printable.of(e.toString()));
      command.getErr().flush();
      return ExitCodes.FAILED;
    }
  }

  @Override
  public int handleParseException(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    print(command, e, e.getMessage() + "; see '" + name + " --help'");
    return ExitCodes.USAGE;
  }

  @Override
  public int handleExecutionException(Exception e, CommandLine command, ParseResult parsed) {
    boolean isForeseen = e instanceof ZRecordException
        || e instanceof IllegalArgumentException
        || e instanceof IndexOutOfBoundsException
        || e instanceof UncheckedIOException
        || e instanceof CancellationException
        || e instanceof java.io.IOException;
    if (!isForeseen) {
      LoggerFactory.getLogger(ErrorLines.class).error("Not foreseen", e);
    }
    print(
        command,
        e,
        isForeseen && e.getMessage() != null
            ? e.getMessage()
            : "Internal error: " + e + "; " + remedy);
    return exitCode(e);
  }

  private void print(CommandLine command, Exception e, String message) {
    PrintWriter err = command.getErr();
    err.println(
        "zrecord: " + Printable.of(message.lines().reduce((a, b) -> a + " " + b).orElse("")));
    if (printsStackTraces.getAsBoolean()) {
      e.printStackTrace(err);
    }
    err.flush();
  }

  private static int exitCode(Exception e) {
    if (e instanceof CorruptDataException
        || e instanceof TruncatedFileException
        || e instanceof MissingFileException) {
      return ExitCodes.DAMAGED;
    }
    boolean isUsage = e instanceof NotADatasetException
        || e instanceof DatasetExistsException
        || e instanceof VersionNotFoundException
        || e instanceof SchemaMismatchException
        || e instanceof ValueTooLargeException
        || e instanceof IllegalArgumentException
        || e instanceof IndexOutOfBoundsException;
    return isUsage ? ExitCodes.USAGE : ExitCodes.FAILED;
  }
}
