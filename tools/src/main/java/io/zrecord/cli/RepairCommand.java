package io.zrecord.cli;

import io.zrecord.MovedRecord;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Progress;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.findings.CheckSummary;
import io.zrecord.repair.DamagedValues;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairPlan;
import io.zrecord.repair.RepairReport;
import io.zrecord.verify.DatasetCheck;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Repairs a dataset. */
@Command(
    name = "repair",
    description = {
      "Repairs what verify finds, as far as that is possible. Says what it would do and asks first.",
      "A store: files that are missing or cut get zeros for what is lost, known headers are written"
          + " again, a journal is cut where it is damaged (the rest is kept), 'live' is made anew;"
          + " damaged values are kept, made absent, or deleted with their records.",
      "A table: damaged manifests that are newer than the last readable one are moved aside, unless"
          + " a tag names one: the next commits take their numbers.",
      "A sealed shard is never changed."
    })
final class RepairCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the dataset")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(names = "--dry-run", description = "say only what would be done")
  private boolean isDryRun;

  @Option(names = "--yes", description = "approve the repair without a question")
  private boolean isApproved;

  @ArgGroup
  private Treatment treatment = new Treatment();

  @Option(names = "--no-progress", description = "hide the progress bar")
  private boolean isQuiet;

  private final MovedRecords moved = new MovedRecords();

  /** The treatment of data that cannot be restored. */
  static final class Treatment {
    @Option(
        names = "--mark-absent",
        description = "make damaged values of a store absent; the others of their records stay")
    private boolean marksAbsent;

    @Option(
        names = "--delete-records",
        description =
            "delete records of a store that have a damaged value. The last records move into "
                + "their places. Each move is printed first; for a record listed twice the later "
                + "line counts")
    private boolean deletesRecords;

    @Option(
        names = "--restore-previous",
        description = "go back to the last version of a table whose manifest can be read")
    private boolean restoresPrevious;
  }

  @Override
  public Integer call() throws IOException {
    DatasetRepair repair = DatasetRepair.of(path.storage()).onMove(this::print);
    if (treatment.marksAbsent) {
      repair = repair.damagedValues(DamagedValues.MARK_ABSENT);
    } else if (treatment.deletesRecords) {
      repair = repair.damagedValues(DamagedValues.DELETE_RECORDS);
    } else if (treatment.restoresPrevious) {
      repair = repair.restoringPrevious();
    }
    RepairReport report;
    try (Progress progress = Progress.of("verify", err(), !isQuiet);
        FindingPrinter findings = FindingPrinter.of(out(), progress, null)) {
      report = repair.run(findings, plan -> {
        findings.finish();
        return approves(plan);
      });
    }
    report.plan().remaining().forEach(left -> out().println("not repaired: " + Printable.of(left)));
    if (report.isDone()) {
      return finish();
    }
    out()
        .println(
            report.plan().actions().isEmpty()
                ? "There is nothing that this command can repair."
                : "Nothing was changed.");
    boolean isSound =
        report.plan().actions().isEmpty() && report.plan().remaining().isEmpty();
    return isSound ? ExitCodes.DONE : isDryRun ? ExitCodes.DAMAGED : ExitCodes.FAILED;
  }

  /** Prints a move at once, because a deletion stays even if the next one fails. */
  private void print(MovedRecord move) {
    moved.add(move);
    if (move.from() != move.to()) {
      out().println("record " + moved.origin(move.to()) + " is now " + move.to());
      out().flush();
    }
  }

  private int finish() {
    CheckSummary summary = DatasetCheck.of(path.storage()).run(finding -> {});
    out()
        .println(
            summary.isSound()
                ? "Repaired; " + path + " is sound now"
                : "Repaired in part: verify still finds " + summary.damageCount() + " damages");
    return summary.isSound() ? ExitCodes.DONE : ExitCodes.DAMAGED;
  }

  private boolean approves(RepairPlan plan) {
    plan.actions().forEach(action -> out().println("would: " + Printable.of(action)));
    if (isDryRun || isApproved) {
      return isApproved && !isDryRun;
    }
    out().print("Do this? Only a copy of the files brings back what it changes. [y/N] ");
    out().flush();
    String answer = readLine();
    out().println();
    return answer != null && answer.strip().equalsIgnoreCase("y");
  }

  private static @Nullable String readLine() {
    try {
      return new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset()))
          .readLine();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read the answer: " + e.getMessage(), e);
    }
  }
}
