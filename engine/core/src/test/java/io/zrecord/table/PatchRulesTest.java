package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.internal.shard.write.Patches;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Patches that break a rule for writers, and are otherwise whole. */
final class PatchRulesTest {
  private static final RecordSchema SCHEMA = new RecordSchema(List.of(RecordSchema.builder()
      .field("number", ElementType.I32)
      .build()
      .fields()
      .get(0)
      .withRules(FieldRules.NONE.withNullable(false))));

  @TempDir
  Path directory;

  @Test
  void aValueOfADeletedRecordIsReported() {
    assertThat(problems(new long[] {1}, values(1, new byte[4])))
        .singleElement()
        .asString()
        .contains("slot 1, which is deleted");
  }

  @Test
  void anAbsentValueWhereNoneMayBeIsReported() {
    assertThat(problems(new long[0], values(1, null)))
        .singleElement()
        .asString()
        .contains("1 absent values, but the manifest says that none is absent");
  }

  @Test
  void aPatchThatKeepsTheRulesIsSound() {
    assertThat(problems(new long[] {0}, values(1, new byte[4]))).isEmpty();
  }

  private static SortedMap<Long, byte[]> values(long slot, byte[] value) {
    SortedMap<Long, byte[]> values = new TreeMap<>();
    values.put(slot, value);
    return values;
  }

  private List<String> problems(long[] deleted, SortedMap<Long, byte[]> values) {
    Path path = directory.resolve("table");
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, options)) {
      RecordAppender records = writer.newAppender();
      records.set("number", 1).endRecord();
      records.set("number", 2).endRecord();
      writer.commit();
    }
    Storage storage = LocalStorage.at(path);
    RecordTable table = RecordTable.at(storage);
    TableSnapshot base = table.latest();
    ShardSummary shard = base.shards().get(0);
    Map<FieldSpec, SortedMap<Long, byte[]>> changes =
        Map.of(base.schema().fields().get(0), values);
    ShardSummary patched = values.containsKey(1L) && deleted.length > 0 && deleted[0] == 1
        ? Patches.writeWithValueOfDeleted(storage, shard, 1, changes)
        : Patches.write(storage, shard, deleted, changes);
    table.commit(TableChange.rows(
        base,
        TableChange.Kind.UPDATE,
        base.schema(),
        List.of(TableChange.Replacement.ofRows(shard, List.of(patched))),
        Map.of()));
    List<String> problems = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(finding -> problems.add(finding.problem()));
    return problems;
  }
}
