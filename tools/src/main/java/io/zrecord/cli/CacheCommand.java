package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.storage.cache.CacheContent;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Describes or clears a cache of blocks. */
@Command(
    name = "cache",
    description = {
      "Describes a cache of remote tables: blocks and bytes of each table, and when they were used.",
      "Deletes blocks with --clear only."
    })
final class CacheCommand extends Subcommand {
  @Parameters(paramLabel = "DIR", description = "directory of the cache")
  private Path directory = Path.of("");

  @Option(names = "--clear", description = "delete what the cache wrote, and no other file")
  private boolean isClearing;

  @Option(names = "--json", description = "print one JSON object")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    CacheContent content = isClearing ? CacheContent.clear(directory) : CacheContent.of(directory);
    if (isJson) {
      out().println(ValueJson.MAPPER.writeValueAsString(json(content)));
    } else {
      print(content);
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void print(CacheContent content) {
    for (CacheContent.Table table : content.tables()) {
      out()
          .println(Printable.of(table.location()) + ": " + table.blocks() + " blocks, "
              + table.bytes() + " bytes, used " + table.oldestUse() + " to " + table.newestUse());
    }
    if (content.unreadableBlocks() > 0) {
      out()
          .println("damaged: " + content.unreadableBlocks() + " blocks, "
              + content.unreadableBytes() + " bytes");
    }
    if (content.unfinishedFiles() > 0) {
      out()
          .println("unfinished: " + content.unfinishedFiles() + " files, "
              + content.unfinishedBytes() + " bytes");
    }
    out()
        .println((isClearing ? "deleted " : "all: ") + content.blocks() + " blocks, "
            + content.bytes() + " bytes of " + content.tables().size() + " tables");
  }

  private ObjectNode json(CacheContent content) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("path", directory.toString())
        .put("cleared", isClearing)
        .put("blocks", content.blocks())
        .put("bytes", content.bytes())
        .put("damagedBlocks", content.unreadableBlocks())
        .put("unfinishedFiles", content.unfinishedFiles());
    ArrayNode tables = node.putArray("tables");
    for (CacheContent.Table table : content.tables()) {
      tables
          .addObject()
          .put("location", table.location())
          .put("blocks", table.blocks())
          .put("bytes", table.bytes())
          .put("oldestUse", table.oldestUse().toString())
          .put("newestUse", table.newestUse().toString());
    }
    return node;
  }
}
