package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.findings.CheckSummary;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Checks a dataset. */
@Command(
    name = "verify",
    description = {
      "Checks every checksum and every rule of the format. Changes nothing.",
      "Of a table the values of the newest version are checked, and the files of all versions."
    })
final class VerifyCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the dataset")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--version",
      paramLabel = "V",
      description = "version whose values are checked (default: the newest)")
  private @Nullable Long version;

  @Option(names = "--all-versions", description = "check the values of all versions")
  private boolean checksAllVersions;

  @Option(
      names = "--report",
      paramLabel = "FILE",
      description = "file for all findings, a JSON object a line")
  private @Nullable Path report;

  @Option(names = "--no-progress", description = "hide the progress bar")
  private boolean isQuiet;

  @Override
  public Integer call() throws IOException {
    if (version != null && checksAllVersions) {
      throw misuse("--version and --all-versions exclude each other");
    }
    DatasetCheck check = DatasetCheck.of(path.storage());
    if (version != null) {
      check = check.version(version);
    } else if (checksAllVersions) {
      check = check.allVersions();
    }
    CheckSummary summary;
    try (Progress progress = Progress.of("verify", err(), !isQuiet);
        FindingPrinter findings = FindingPrinter.of(out(), progress, report)) {
      summary = check.run(findings);
    }
    print(summary);
    return summary.isSound() ? ExitCodes.DONE : ExitCodes.DAMAGED;
  }

  private void print(CheckSummary summary) {
    out()
        .println((summary.isSound()
                ? path + " is sound"
                : path + " is DAMAGED: " + summary.damageCount() + " findings, "
                    + summary.badValueCount() + " values")
            + "; checked " + summary.valueCount() + " values of " + summary.recordCount()
            + " records, " + summary.bytes() + " bytes");
    out().flush();
  }
}
