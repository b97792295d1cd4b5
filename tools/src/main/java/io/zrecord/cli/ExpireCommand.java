package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.cli.maintenance.AgeConverter;
import io.zrecord.table.CareMode;
import io.zrecord.table.ExpireOptions;
import io.zrecord.table.ExpireResult;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Removes old versions of a table. */
@Command(
    name = "expire",
    description = {
      "Removes old versions of a table. The newest version and versions with a tag stay.",
      "A removed version cannot be read. Its files stay until 'sweep'."
    })
final class ExpireCommand extends Subcommand {
  private static final ExpireOptions DEFAULTS = ExpireOptions.defaults();

  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(names = "--keep", paramLabel = "N", description = "number of newest versions to keep (1)")
  private int keepVersions = DEFAULTS.keepVersions();

  @Option(
      names = "--older-than",
      paramLabel = "AGE",
      converter = AgeConverter.class,
      description =
          "age, 1h and more: versions that were the newest at any time since are kept (7d)")
  private Duration olderThan = DEFAULTS.olderThan();

  @Option(names = "--dry-run", description = "say only what would be removed")
  private boolean isDryRun;

  @Option(names = "--json", description = "print one JSON object")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    ExpireOptions options = DEFAULTS
        .withKeepVersions(keepVersions)
        .withOlderThan(olderThan)
        .withMode(isDryRun ? CareMode.DRY_RUN : CareMode.DELETE);
    ExpireResult result = RecordTable.at(path.storage()).expire(options);
    if (isJson) {
      ObjectNode node =
          ValueJson.MAPPER.createObjectNode().put("path", path.toString()).put("dryRun", isDryRun);
      result.expired().forEach(node.putArray("expired")::add);
      node.put("tagged", result.taggedCount()).put("kept", result.keptCount());
      out().println(ValueJson.MAPPER.writeValueAsString(node));
    } else {
      print(result);
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void print(ExpireResult result) {
    List<Long> expired = result.expired();
    String which = expired.isEmpty()
        ? ""
        : " (" + expired.get(0) + " to " + expired.get(expired.size() - 1) + ")";
    out()
        .println((isDryRun ? "would expire " : "expired ") + expired.size() + " versions" + which
            + "; " + result.keptCount() + " are left, " + result.taggedCount()
            + " of them old but with a tag");
  }
}
