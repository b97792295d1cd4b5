package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.Batch;
import io.zrecord.Datasets;
import io.zrecord.RecordSource;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.ShardChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.changes.VersionChanges;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Printable;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.read.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Prints what versions of a table inserted, deleted and changed. */
@Command(
    name = "changes",
    description = "Prints which records versions of a table inserted, deleted and changed.")
final class ChangesCommand extends Subcommand {
  /** Records whose values are read at once. */
  private static final int BATCH = 64;

  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(
      names = "--from",
      paramLabel = "A",
      description = "version before the first one that is told (default: the one before --to)")
  private @Nullable Long from;

  @Option(
      names = "--to",
      paramLabel = "B",
      description = "last version that is told (default: the newest)")
  private @Nullable Long to;

  @Option(
      names = "--json",
      description = "print an object a line for each record, with its values before and after")
  private boolean isJson;

  @Override
  public Integer call() throws IOException {
    Storage storage = path.storage();
    long last = to == null ? RecordTable.at(storage).latest().version() : to;
    long first = from == null ? last - 1 : from;
    List<VersionChanges> versions =
        TableChanges.of(storage).between(first, last).toList();
    for (VersionChanges version : versions) {
      if (isJson) {
        printRecords(storage, version);
      } else {
        printCounts(storage, version);
      }
    }
    out().flush();
    return ExitCodes.DONE;
  }

  private void printCounts(Storage storage, VersionChanges version) {
    long inserted = 0;
    long deleted = 0;
    long changed = 0;
    Map<Integer, Long> byField = new LinkedHashMap<>();
    for (ShardChanges shard : version.shards()) {
      RecordChanges records = shard.read(storage);
      inserted += records.inserted().count();
      deleted += records.deleted().count();
      changed += records.changedBefore().count();
      records.fields().forEach((id, indices) -> byField.merge(id, indices.count(), Long::sum));
    }
    out()
        .println("version " + version.version() + " (" + version.operation() + ", "
            + version.timestamp() + "): " + inserted + " inserted, " + deleted + " deleted, "
            + changed + " changed");
    if (!byField.isEmpty()) {
      RecordSchema schema = RecordTable.at(storage).version(version.version()).schema();
      out()
          .println("  "
              + byField.entrySet().stream()
                  .map(field -> name(schema, field.getKey()) + ": " + field.getValue())
                  .collect(Collectors.joining(", ")));
    }
  }

  private static String name(RecordSchema schema, int fieldId) {
    return schema.find(fieldId).map(field -> Printable.of(field.name())).orElse("field " + fieldId);
  }

  private void printRecords(Storage storage, VersionChanges version) throws IOException {
    if (version.shards().isEmpty()) {
      return;
    }
    boolean isAlone = version.shards().stream().allMatch(shard -> shard.before() == null);
    try (RecordSource after = Datasets.open(storage, OptionalLong.of(version.version()));
        RecordSource before =
            isAlone ? after : Datasets.open(storage, OptionalLong.of(version.version() - 1))) {
      for (ShardChanges shard : version.shards()) {
        RecordChanges records = shard.read(storage);
        printWhole(version, "delete", "before", before, indices(records.deleted()));
        printChanged(version, before, after, records);
        printWhole(version, "insert", "after", after, indices(records.inserted()));
      }
    }
  }

  private void printWhole(
      VersionChanges version, String change, String member, RecordSource records, long[] indices)
      throws IOException {
    List<FieldSpec> fields = records.schema().fields();
    for (int from = 0; from < indices.length; from += BATCH) {
      long[] part = Arrays.copyOfRange(indices, from, Math.min(indices.length, from + BATCH));
      try (Batch batch = records.gather(part, names(fields))) {
        for (int i = 0; i < part.length; i++) {
          ObjectNode line = line(version, change).put("index", part[i]);
          line.set(member, values(batch, i, fields));
          out().println(ValueJson.MAPPER.writeValueAsString(line));
        }
      }
    }
  }

  private void printChanged(
      VersionChanges version, RecordSource before, RecordSource after, RecordChanges records)
      throws IOException {
    long[] then = indices(records.changedBefore());
    long[] now = indices(records.changedAfter());
    List<FieldSpec> fieldsBefore = of(before.schema(), records);
    List<FieldSpec> fieldsAfter = of(after.schema(), records);
    for (int from = 0; from < then.length; from += BATCH) {
      int end = Math.min(then.length, from + BATCH);
      try (Batch old = before.gather(Arrays.copyOfRange(then, from, end), names(fieldsBefore));
          Batch young = after.gather(Arrays.copyOfRange(now, from, end), names(fieldsAfter))) {
        for (int i = from; i < end; i++) {
          long index = then[i];
          ObjectNode line = line(version, "update").put("index", now[i]).put("indexBefore", index);
          line.set("before", values(old, i - from, of(fieldsBefore, records, index)));
          line.set("after", values(young, i - from, of(fieldsAfter, records, index)));
          out().println(ValueJson.MAPPER.writeValueAsString(line));
        }
      }
    }
  }

  private static List<FieldSpec> of(RecordSchema schema, RecordChanges records) {
    return schema.fields().stream()
        .filter(field -> records.fields().containsKey(field.id()))
        .toList();
  }

  private static List<FieldSpec> of(List<FieldSpec> fields, RecordChanges records, long index) {
    List<FieldSpec> changed = new ArrayList<>();
    for (FieldSpec field : fields) {
      IndexSet indices = records.fields().get(field.id());
      if (indices != null && indices.contains(index)) {
        changed.add(field);
      }
    }
    return changed;
  }

  private static String[] names(List<FieldSpec> fields) {
    return fields.stream().map(FieldSpec::name).toArray(String[]::new);
  }

  private static ObjectNode line(VersionChanges version, String change) {
    return ValueJson.MAPPER
        .createObjectNode()
        .put("version", version.version())
        .put("change", change);
  }

  private static ObjectNode values(Batch batch, int i, List<FieldSpec> fields) {
    ObjectNode values = ValueJson.MAPPER.createObjectNode();
    for (FieldSpec field : fields) {
      if (batch.isAbsent(field.name(), i)) {
        values.putNull(field.name());
      } else {
        values.set(field.name(), ValueJson.of(field, batch.bytes(field.name(), i)));
      }
    }
    return values;
  }

  private static long[] indices(IndexSet set) {
    long[] indices = new long[Math.toIntExact(set.count())];
    int next = 0;
    for (int range = 0; range < set.rangeCount(); range++) {
      for (long index = set.rangeFrom(range); index < set.rangeTo(range); index++) {
        indices[next++] = index;
      }
    }
    return indices;
  }
}
