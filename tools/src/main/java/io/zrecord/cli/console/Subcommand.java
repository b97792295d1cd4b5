package io.zrecord.cli.console;

import java.io.PrintWriter;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Base of all commands: where to print, and how to refuse. */
public abstract class Subcommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init")
  private CommandSpec spec;

  protected PrintWriter out() {
    return spec.commandLine().getOut();
  }

  protected PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** Returns the command as it was called. */
  protected CommandLine commandLine() {
    return spec.commandLine();
  }

  /**
   * Refuses options that have no effect together with the requested operation.
   *
   * @param fitting long names of the options that have an effect
   * @param why reason, printed after the name of the option
   */
  public void requireFitting(Set<String> fitting, String why) {
    requireFitting(commandLine(), fitting, why);
  }

  public static void requireFitting(CommandLine command, Set<String> fitting, String why) {
    command.getParseResult().matchedOptions().stream()
        .map(option -> option.longestName())
        .filter(name -> !fitting.contains(name))
        .findFirst()
        .ifPresent(name -> {
          throw new ParameterException(command, name + " " + why + "; leave it out");
        });
  }

  /** Returns the exception for a wrong call of the command. */
  protected ParameterException misuse(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
