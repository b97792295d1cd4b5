package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ErrorLines;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The command {@code zrecord}. */
@Command(
    name = "zrecord",
    description = "Looks at, checks, repairs and changes zrecord datasets.",
    versionProvider = Zrecord.Version.class,
    scope = ScopeType.INHERIT,
    synopsisSubcommandLabel = "COMMAND",
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done; a check found nothing",
      "1:data are damaged",
      "2:called wrongly, or no such dataset, version, field or record",
      "3:failed otherwise: disk full, store open elsewhere, repair not approved"
    },
    subcommands = {
      InfoCommand.class,
      ReportCommand.class,
      GetCommand.class,
      CreateCommand.class,
      AppendCommand.class,
      DeleteCommand.class,
      UpdateCommand.class,
      VerifyCommand.class,
      RepairCommand.class,
      RebalanceCommand.class,
      BackupCommand.class,
      ImportCommand.class,
      ExportCommand.class,
      FeedCommand.class,
      ServeCommand.class,
      FieldsCommand.class,
      ChangesCommand.class,
      DeclareCommand.class,
      TagCommand.class,
      UntagCommand.class,
      TagsCommand.class,
      RollbackCommand.class,
      ExpireCommand.class,
      SweepCommand.class,
      DropCommand.class,
      CacheCommand.class
    })
public final class Zrecord {
  private static final String LOG_LEVEL = "org.slf4j.simpleLogger.defaultLogLevel";

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      scope = ScopeType.INHERIT,
      description = "print what a command does")
  @SuppressWarnings("unused") // The parser handles the option itself.
  private boolean printsHelp;

  @Option(
      names = {"-V", "--version"},
      versionHelp = true,
      description = "print the version")
  @SuppressWarnings("unused")
  private boolean printsVersion;

  @Option(
      names = "--stacktrace",
      scope = ScopeType.INHERIT,
      description = "print the stack trace of an error")
  private boolean printsStackTraces;

  @Option(
      names = "--storage-option",
      paramLabel = "NAME=VALUE",
      scope = ScopeType.INHERIT,
      description = "an option of the storage that a URI names; may be repeated")
  private Map<String, String> storageOptions = Map.of();

  private Zrecord() {}

  /** Provides the output of {@code --version}. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "zrecord "
            + Optional.ofNullable(Zrecord.class.getPackage().getImplementationVersion())
                .orElse("of a development build")
      };
    }
  }

  /** Returns the command with its subcommands, for one execution. */
  static CommandLine commandLine() {
    Zrecord root = new Zrecord();
    CommandLine line = new CommandLine(root);
    ErrorLines errors = new ErrorLines(() -> root.printsStackTraces);
    return line.registerConverter(
            DatasetLocation.class,
            location -> new DatasetLocation(location, () -> root.storageOptions))
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setAbbreviatedOptionsAllowed(false)
        .setExecutionExceptionHandler(errors)
        .setParameterExceptionHandler(errors);
  }

  public static void main(String[] args) {
    if (System.getProperty(LOG_LEVEL) == null) {
      System.setProperty(LOG_LEVEL, "warn");
    }
    System.exit(ErrorLines.execute(commandLine(), args));
  }
}
