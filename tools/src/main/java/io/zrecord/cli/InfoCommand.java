package io.zrecord.cli;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.DatasetKind;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.DatasetInspection;
import io.zrecord.inspect.DatasetUsage;
import io.zrecord.inspect.ShardUsage;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.UnreadableField;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetSummary;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Describes the content of a directory. */
@Command(
    name = "info",
    description = {
      "Describes a dataset: its kind, its fields, and how well its chunks are used.",
      "Reads metadata only, also while a store is being written; --chunks reads the tables of entries, and takes"
          + " a snapshot of a store for that."
    })
final class InfoCommand extends Subcommand {
  @Parameters(paramLabel = "PATH", description = "directory of the dataset")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--chunks",
      description =
          "print live, dead and padding bytes of each chunk, and how far index order is from file"
              + " order")
  private boolean hasChunks;

  @Option(names = "--json", description = "print one JSON object")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    DatasetSummary summary = DatasetSummary.of(path.storage());
    if (isJson) {
      printJson(summary);
    } else {
      print(summary);
      if (hasChunks) {
        printChunks(summary);
      }
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void printChunks(DatasetSummary summary) {
    UsagePrinter printer = new UsagePrinter(out());
    out().println();
    printer.printHeader();
    printer.print(inspect(summary).run(shard -> shard.chunks().forEach(printer::print)));
  }

  /** Returns the inspection of the summarized version, which may not be the newest any more. */
  private DatasetInspection inspect(DatasetSummary summary) {
    return summary
        .snapshot()
        .map(DatasetInspection::of)
        .orElseGet(() -> DatasetInspection.of(path.storage()));
  }

  /** Prints chunks while they are visited: there may be more chunks than fit in memory. */
  private void printJson(DatasetSummary summary) throws IOException {
    try (JsonGenerator json = ValueJson.MAPPER.getFactory().createGenerator(out())) {
      json.disable(JsonGenerator.Feature.AUTO_CLOSE_TARGET);
      json.writeStartObject();
      Iterator<Map.Entry<String, JsonNode>> members = json(summary).fields();
      while (members.hasNext()) {
        Map.Entry<String, JsonNode> member = members.next();
        json.writePOJOField(member.getKey(), member.getValue());
      }
      if (hasChunks) {
        json.writeArrayFieldStart("chunkFiles");
        DatasetUsage usage = inspect(summary).run(shard -> write(json, shard));
        json.writeEndArray();
        json.writePOJOField("usage", UsageJson.of(usage));
      }
      json.writeEndObject();
    }
    out().println();
  }

  private static void write(JsonGenerator json, ShardUsage shard) {
    try {
      for (ChunkUsage chunk : shard.chunks()) {
        json.writePOJO(UsageJson.of(chunk));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void print(DatasetSummary summary) {
    out().println(path + ": a " + kind(summary));
    summary.snapshot().ifPresent(snapshot -> {
      List<Long> versions = summary.versions();
      out()
          .println("version " + snapshot.version() + " of " + versions.get(0) + " to "
              + versions.get(versions.size() - 1) + ": " + Printable.of(snapshot.operation()) + ", "
              + snapshot.timestamp());
      snapshot
          .indexMap()
          .ifPresent(map -> out()
              .println(
                  "index map from version " + (snapshot.version() - 1) + ": " + map.directory()));
      DeclarationsText.print(snapshot.declarations(), snapshot.schema(), out()::println);
    });
    out()
        .println(summary.length() + " records in " + summary.shardCount() + " shards, "
            + summary.chunkCount() + " chunks");
    out()
        .println("utilization: " + ratio(summary.length(), summary.writtenRecords()) + " records, "
            + bytes(summary));
    if (summary.journalBytes() > 0) {
      out().println("journal: " + summary.journalBytes() + " bytes since the last checkpoint");
    }
    // Only stores have files for each field.
    boolean hasStems = summary.kind() == DatasetKind.STORE;
    String format =
        "%-" + nameWidth(summary) + "s  %-16s %-12s " + (hasStems ? "%-10s %s%n" : "%s%n");
    out().printf(Locale.ROOT, format, "field", "type", "shape", "codec", "stem");
    for (FieldSpec field : summary.schema().fields()) {
      out()
          .printf(
              Locale.ROOT,
              format,
              Printable.of(field.name()),
              field.type(),
              field.shape().isScalar() ? "-" : field.shape(),
              field.compression(),
              summary.stems().getOrDefault(field.id(), "-"));
    }
    for (UnreadableField field : summary.schema().unreadable()) {
      out()
          .println("cannot be read: " + Printable.of(field.name()) + ", which uses the feature '"
              + Printable.of(field.feature()) + "'; upgrade zrecord");
    }
  }

  private static String bytes(DatasetSummary summary) {
    return summary.valueBytes().isPresent()
        ? ratio(summary.valueBytes().getAsLong(), summary.chunkBytes()) + " bytes"
        : "bytes as --chunks counts them: records were deleted or changed";
  }

  private static int nameWidth(DatasetSummary summary) {
    return summary.schema().fields().stream()
        .mapToInt(field -> Printable.of(field.name()).length())
        .reduce("field".length(), Math::max);
  }

  private static String kind(DatasetSummary summary) {
    return summary.kind().name().toLowerCase(Locale.ROOT);
  }

  private static String ratio(long live, long written) {
    return String.format(
        Locale.ROOT,
        "%.1f %% (%d of %d)",
        written == 0 ? 100.0 : 100.0 * live / written,
        live,
        written);
  }

  private ObjectNode json(DatasetSummary summary) {
    ObjectNode node = ValueJson.MAPPER
        .createObjectNode()
        .put("path", path.toString())
        .put("kind", kind(summary))
        .put("length", summary.length())
        .put("shards", summary.shardCount())
        .put("chunks", summary.chunkCount())
        .put("writtenRecords", summary.writtenRecords())
        .put("chunkBytes", summary.chunkBytes());
    summary.valueBytes().ifPresent(bytes -> node.put("valueBytes", bytes));
    if (summary.snapshot().isPresent()) {
      TableSnapshot snapshot = summary.snapshot().get();
      node.put("version", snapshot.version())
          .put("operation", snapshot.operation())
          .put("timestamp", snapshot.timestamp().toString());
      snapshot.indexMap().ifPresent(map -> node.put("indexMap", map.directory()));
      summary.versions().forEach(node.putArray("versions")::add);
      DeclarationsText.add(node, snapshot.declarations());
    }
    ArrayNode fields = node.putArray("fields");
    for (FieldSpec field : summary.schema().fields()) {
      ObjectNode fieldNode = fields
          .addObject()
          .put("id", field.id())
          .put("name", field.name())
          .put("type", field.type().toString())
          .put("compression", field.compression().toString());
      if (summary.stems().containsKey(field.id())) {
        fieldNode.put("stem", summary.stems().get(field.id()));
      }
      if (field.rules().defaultSql() != null) {
        fieldNode.put("default", field.rules().defaultSql());
      }
      if (!field.shape().isScalar()) {
        field.shape().dimensions().forEach(fieldNode.putArray("shape")::add);
      }
    }
    if (!summary.schema().unreadable().isEmpty()) {
      ArrayNode unreadable = node.putArray("unreadable");
      for (UnreadableField field : summary.schema().unreadable()) {
        unreadable
            .addObject()
            .put("id", field.id())
            .put("name", field.name())
            .put("feature", field.feature());
      }
    }
    return node;
  }
}
