package io.zrecord;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.DirectoryInMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the values of a field take after deletions: files of the field, and none of what is there.
 */
final class BackfillTest {
  private static final int SHARDS = 3;
  private static final int SHARD_RECORDS = 1000;
  private static final int IMAGE_BYTES = 2000;
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE).withStripeBytes(1 << 20);
  private static final FieldSpec SCORE =
      new FieldSpec(1, "score", ElementType.F32, Shape.scalar(), Compression.RAW);

  /** Most bytes of a tables file of one field with 1,000 numbers, and of its chunk's header. */
  private static final int MOST_BYTES_BESIDE = 1500;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private RecordTable table;

  @BeforeEach
  void write() {
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("image", ElementType.BYTES)
        .build();
    Path path = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema, OPTIONS)) {
      for (int shard = 0; shard < SHARDS; shard++) {
        RecordAppender records = writer.newAppender();
        for (int i = 0; i < SHARD_RECORDS; i++) {
          records.set("label", i).set("image", new byte[IMAGE_BYTES]).endRecord();
        }
      }
      writer.commit();
    }
    table = RecordTable.at(LocalStorage.at(path));
  }

  private void deleteOneOfEachShard() {
    RowChange change = RowChange.of(table.latest());
    for (int shard = 0; shard < SHARDS; shard++) {
      change.delete(shard * (long) SHARD_RECORDS + 7);
    }
    change.commit();
  }

  private Map<String, Long> files() throws IOException {
    Map<String, Long> files = new TreeMap<>();
    try (Stream<Path> all = Files.walk(directory.resolve("table/shard"))) {
      for (Path path : (Iterable<Path>) all.filter(Files::isRegularFile)::iterator) {
        files.put(path.toString(), Files.size(path));
      }
    }
    return files;
  }

  private void fill(RecordFieldsWriter writer, String field) {
    try (writer) {
      TableSnapshot base = writer.base();
      for (int shard = 0; shard < SHARDS; shard++) {
        RecordAppender values = writer.newAppender(shard);
        for (long i = 0; i < base.shards().get(shard).length(); i++) {
          values.set(field, i).endRecord();
        }
        writer.finish(shard);
      }
      writer.commit();
    }
  }

  /** Requires that as many files of each kind were written, and how many bytes at most. */
  private Map<String, Long> requireWritten(Map<String, Long> before, int patches, long mostBytes)
      throws IOException {
    Map<String, Long> written = files();
    assertThat(written).containsAllEntriesOf(before);
    before.keySet().forEach(written::remove);
    assertThat(written.keySet()).filteredOn(name -> name.endsWith(".zr")).hasSize(SHARDS);
    assertThat(written.keySet()).filteredOn(name -> name.endsWith(".tables")).hasSize(SHARDS);
    assertThat(written.keySet()).filteredOn(name -> name.endsWith(".patch")).hasSize(patches);
    assertThat(written).hasSize(2 * SHARDS + patches);
    long bytes = written.values().stream().mapToLong(Long::longValue).sum();
    assertThat(bytes).isBetween(4L * SHARDS * (SHARD_RECORDS - 1), mostBytes);
    return written;
  }

  private static long mostBytes() {
    return SHARDS * (4L * SHARD_RECORDS + MOST_BYTES_BESIDE);
  }

  @Test
  void aNewFieldIsFilledAfterDeletions() throws IOException {
    deleteOneOfEachShard();
    List<ShardSummary> shards = table.latest().shards();
    Map<String, Long> before = files();
    fill(RecordFieldsWriter.add(table, List.of(SCORE), OPTIONS), "score");
    requireWritten(before, 0, mostBytes());
    assertThat(table.latest().shards().stream().map(ShardSummary::patch))
        .isEqualTo(shards.stream().map(ShardSummary::patch).toList());
  }

  @Test
  void aFieldThatWasAddedWithoutValuesIsFilledAfterDeletions() throws IOException {
    table.addFields(List.of(SCORE));
    deleteOneOfEachShard();
    List<ShardSummary> shards = table.latest().shards();
    Map<String, Long> before = files();
    fill(RecordFieldsWriter.rewrite(table, Set.of("score"), OPTIONS), "score");
    requireWritten(before, 0, mostBytes());
    assertThat(table.latest().shards().stream().map(ShardSummary::patch))
        .isEqualTo(shards.stream().map(ShardSummary::patch).toList());
  }

  @Test
  void aFieldIsRewrittenAfterChangesOfItsValues() throws IOException {
    deleteOneOfEachShard();
    RowChange change = RowChange.of(table.latest());
    change.update(1, "label", -1);
    change.update(2, "image", new byte[1]);
    change.commit();
    Map<String, Long> before = files();
    fill(RecordFieldsWriter.rewrite(table, Set.of("label"), OPTIONS), "label");
    Map<String, Long> written = requireWritten(before, 1, mostBytes() + 2000);
    assertThat(written.values()).allMatch(bytes -> bytes < 5000);
  }

  @Test
  void whatIsGivenUpLeavesNoFile() throws IOException {
    RowChange change = RowChange.of(table.latest());
    change.update(1, "label", -1);
    change.delete(0);
    change.commit();
    Map<String, Long> before = files();
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("label"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      for (int i = 0; i < SHARD_RECORDS - 1; i++) {
        values.set("label", i).endRecord();
      }
      writer.finish(0);
      assertThat(files()).hasSize(before.size() + 3);
    }
    assertThat(files()).isEqualTo(before);
  }
}
