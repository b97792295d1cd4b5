package io.zrecord.cli;

import java.io.PrintWriter;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What all commands need: where to print to, and how to refuse. */
abstract class Subcommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init")
  private CommandSpec spec;

  PrintWriter out() {
    return spec.commandLine().getOut();
  }

  PrintWriter err() {
    return spec.commandLine().getErr();
  }

  /** The command as it was called. */
  CommandLine commandLine() {
    return spec.commandLine();
  }

  /**
   * Refuses options that have no effect together with what is asked for.
   *
   * @param fitting long names of the others
   * @param why follows the name of the option
   */
  void requireFitting(Set<String> fitting, String why) {
    requireFitting(commandLine(), fitting, why);
  }

  static void requireFitting(CommandLine command, Set<String> fitting, String why) {
    command.getParseResult().matchedOptions().stream()
        .map(option -> option.longestName())
        .filter(name -> !fitting.contains(name))
        .findFirst()
        .ifPresent(name -> {
          throw new ParameterException(command, name + " " + why + "; leave it out");
        });
  }

  /** The exception for a command that was called wrongly. */
  ParameterException misuse(String message) {
    return new ParameterException(spec.commandLine(), message);
  }
}
