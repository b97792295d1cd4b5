package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.LocalStorage;
import io.zrecord.table.RecordTable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What others do to a table while it is checked is no damage. */
final class CheckBesideCommitsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I32).build();

  @TempDir
  Path directory;

  private RecordTable table;

  @BeforeEach
  void createTable() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory, SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 1).endRecord();
      writer.commit();
    }
    append();
    table = RecordTable.at(LocalStorage.at(directory));
  }

  private void append() {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(directory, SCHEMA, WriteOptions.defaults())) {
      writer.newAppender().set("value", 2).endRecord();
      writer.commit();
    }
  }

  private List<Finding> findings(Runnable meanwhile) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(directory).run(new CheckListener() {
      private boolean isDone;

      @Override
      public void finding(Finding finding) {
        findings.add(finding);
      }

      @Override
      public void progress(long doneBytes, long totalBytes) {
        if (!isDone) {
          isDone = true;
          meanwhile.run();
        }
      }
    });
    return findings;
  }

  @Test
  void aVersionThatIsCommittedAndTaggedMeanwhileIsThere() {
    List<Finding> findings = findings(() -> {
      append();
      table.tag(2, "new");
    });
    assertThat(findings).noneMatch(finding -> finding.kind().isDamage());
  }

  @Test
  void aVersionThatIsExpiredMeanwhileIsNoneThatIsDamaged() {
    List<Finding> findings = findings(() -> delete("manifest/00000000000000000000.json"));
    assertThat(findings).noneMatch(finding -> finding.kind().isDamage());
    assertThat(findings).anyMatch(finding -> finding.problem().contains("expired meanwhile"));
  }

  @Test
  void aVersionSetAsideHasNoOrphans() throws Exception {
    table.tag(0, "old");
    Files.move(
        directory.resolve("manifest/00000000000000000000.json"),
        directory.resolve(
            "manifest/00000000000000000000.json.123e4567-e89b-12d3-a456-426614174000.expiring"));
    assertThat(findings(() -> {})).isEmpty();
  }

  private void delete(String name) {
    try {
      Files.delete(directory.resolve(name));
    } catch (java.io.IOException e) {
      throw new java.io.UncheckedIOException(e);
    }
  }
}
