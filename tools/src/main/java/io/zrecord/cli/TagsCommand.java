package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.table.RecordTable;
import io.zrecord.table.Tag;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists the tags of a table. */
@Command(name = "tags", description = "Lists the tags of a table with their versions.")
final class TagsCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(names = "--json", description = "print one JSON array")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    List<Tag> tags = RecordTable.at(path.storage()).tags();
    if (isJson) {
      ArrayNode array = ValueJson.MAPPER.createArrayNode();
      for (Tag tag : tags) {
        array
            .addObject()
            .put("name", tag.name())
            .put("version", tag.version())
            .put("created", tag.created().toString());
      }
      out().println(ValueJson.MAPPER.writeValueAsString(array));
    } else {
      tags.forEach(
          tag -> out().println(tag.name() + ": version " + tag.version() + ", " + tag.created()));
    }
    out().flush();
    return ExitCodes.DONE;
  }
}
