package io.zrecord.serving;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.findings.CheckSummary;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.RebalanceResult;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.storage.Storage;
import io.zrecord.table.CareMode;
import io.zrecord.table.ExpireOptions;
import io.zrecord.table.ExpireResult;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SweepOptions;
import io.zrecord.table.SweepResult;
import io.zrecord.verify.DatasetCheck;
import java.time.Duration;
import java.util.Map;

/** Care for tables: each call is one operation of the engine. Stateless. */
final class TableCalls {
  /** A report of damage names the first findings; the summary counts all. */
  private static final int MOST_FINDINGS = 1000;

  private TableCalls() {}

  /**
   * Does what a frame asks for, and returns the result.
   *
   * @throws IllegalArgumentException if there is no such call, or an argument does not fit it
   */
  static ObjectNode call(Arguments arguments) {
    String name = arguments.text("call");
    Storage storage = arguments.storage();
    return switch (name) {
      case "tag" -> tag(RecordTable.at(storage), arguments);
      case "untag" -> untag(RecordTable.at(storage), arguments);
      case "expire" -> expire(RecordTable.at(storage), arguments);
      case "sweep" -> sweep(RecordTable.at(storage), arguments);
      case "rebalance" -> rebalance(RecordTable.at(storage), arguments);
      case "verify" -> verify(storage, arguments);
      default ->
        throw new IllegalArgumentException(
            "There is no call '" + name + "'; use tag, untag, expire, sweep, rebalance or verify");
    };
  }

  private static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  private static CareMode mode(boolean isDryRun) {
    return isDryRun ? CareMode.DRY_RUN : CareMode.DELETE;
  }

  private static ObjectNode tag(RecordTable table, Arguments arguments) {
    long version =
        arguments.optionalNumber("version").orElseGet(() -> table.latest().version());
    String name = arguments.text("name");
    arguments.requireUsed();
    table.tag(version, name);
    return object().put("name", name).put("version", version);
  }

  private static ObjectNode untag(RecordTable table, Arguments arguments) {
    String name = arguments.text("name");
    arguments.requireUsed();
    table.untag(name);
    return object();
  }

  private static ObjectNode expire(RecordTable table, Arguments arguments) {
    ExpireOptions options = ExpireOptions.defaults()
        .withKeepVersions(Math.toIntExact(arguments.number("keep")))
        .withOlderThan(Duration.ofSeconds(arguments.number("olderThanSeconds")))
        .withMode(mode(arguments.flag("dryRun")));
    arguments.requireUsed();
    ExpireResult done = table.expire(options);
    ObjectNode result = object();
    done.expired().forEach(result.putArray("expired")::add);
    return result.put("tagged", done.taggedCount()).put("kept", done.keptCount());
  }

  private static ObjectNode sweep(RecordTable table, Arguments arguments) {
    SweepOptions options = SweepOptions.defaults()
        .withOlderThan(Duration.ofSeconds(arguments.number("olderThanSeconds")))
        .withMode(mode(arguments.flag("dryRun")));
    arguments.requireUsed();
    SweepResult done = table.sweep(options, orphan -> {});
    return object()
        .put("files", done.fileCount())
        .put("bytes", done.lengthBytes())
        .put("youngFiles", done.youngFileCount())
        .put("youngBytes", done.youngBytes());
  }

  private static ObjectNode rebalance(RecordTable table, Arguments arguments) {
    RebalanceOptions options = RebalanceOptions.defaults();
    long target = arguments.optionalNumber("targetShardBytes").orElse(options.targetShardBytes());
    options = options
        .withShardBytes(Math.min(options.minShardBytes(), target), target)
        .withMinUtilization(
            arguments.optionalFraction("minUtilization").orElse(options.minUtilization()));
    arguments.requireUsed();
    RebalanceResult done = TableRebalance.of(RebalancePlan.of(table.latest(), options))
        .threads(Math.min(4, Runtime.getRuntime().availableProcessors()))
        .properties(Map.of("tool", "zrecord for Python"))
        .run();
    ObjectNode result = object()
        .put("version", table.latest().version())
        .put("groups", done.groups())
        .put("records", done.records())
        .put("shardsBefore", done.before().shards())
        .put("shardsAfter", done.after().shards());
    ArrayNode failures = result.putArray("failures");
    done.failures().forEach(failure -> failures.add(failure.reason()));
    return result;
  }

  private static ObjectNode verify(Storage storage, Arguments arguments) {
    DatasetCheck check = DatasetCheck.of(storage);
    if (arguments.flag("allVersions")) {
      check = check.allVersions();
    }
    arguments.requireUsed();
    ObjectNode result = object();
    ArrayNode findings = result.putArray("findings");
    CheckSummary summary = check.run(finding -> {
      if (findings.size() < MOST_FINDINGS) {
        findings.add(finding.toString());
      }
    });
    return result
        .put("sound", summary.isSound())
        .put("damageCount", summary.damageCount())
        .put("badValueCount", summary.badValueCount())
        .put("records", summary.recordCount())
        .put("values", summary.valueCount())
        .put("bytes", summary.bytes());
  }
}
