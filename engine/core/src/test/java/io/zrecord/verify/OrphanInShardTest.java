package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.findings.Finding;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that a change of fields or records left in the directory of a shard of the table. */
final class OrphanInShardTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("number", ElementType.I32).build();

  @Test
  void aFileThatNoVersionNamesIsReported(@TempDir Path directory) throws Exception {
    Path path = directory.resolve("table");
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, options)) {
      RecordAppender records = writer.newAppender();
      records.set("number", 1).endRecord();
      records.set("number", 2).endRecord();
      writer.commit();
    }
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    RowChange change = RowChange.of(table.latest());
    change.update(0, "number", 5);
    change.delete(1);
    change.commit();
    try (RecordFieldsWriter writer =
        RecordFieldsWriter.add(table, List.of(SCHEMA.fields().get(0).withName("other")), options)) {
      writer.commit();
    }
    assertThat(findings(path)).isEmpty();
    Path shard = path.resolve(table.latest().shards().get(0).directory());
    Path left =
        Files.write(shard.resolve("00000000-0000-4000-8000-000000000000.patch"), new byte[100]);
    assertThat(findings(path)).singleElement().satisfies(finding -> {
      assertThat(finding.kind()).isEqualTo(Finding.Kind.ORPHAN);
      assertThat(finding.file()).isEqualTo(left.toString());
      assertThat(finding.problem()).contains("100 bytes");
    });
  }

  private static List<Finding> findings(Path path) {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(path.toString()).run(findings::add).isSound()).isTrue();
    return findings;
  }
}
