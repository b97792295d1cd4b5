package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.findings.Finding;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Care for a table with a field that was rewritten over a patch. */
final class RewrittenFieldCareTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("other", ElementType.I64)
      .build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final List<Long> CHANGED = List.of(100L, 2L, 3L, 4L, 5L);
  private static final List<Long> REWRITTEN = List.of(10L, 11L, 12L, 13L, 14L);
  private static final List<Long> OTHERS = List.of(1L, -2L, 3L, 4L, 5L);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private Path path;
  private RecordTable table;

  @BeforeEach
  void write() {
    path = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      for (long i = 0; i < 6; i++) {
        records.set("number", i).set("other", i).endRecord();
      }
      writer.commit();
    }
    table = RecordTable.at(LocalStorage.at(path));
    RowChange change = RowChange.of(table.latest());
    change.delete(0);
    change.update(1, "number", 100L);
    change.commit();
    RowChange second = RowChange.of(table.latest());
    second.update(1, "other", -2L);
    second.commit();
    rewrite();
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  private void rewrite() {
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("number"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      REWRITTEN.forEach(value -> values.set("number", value).endRecord());
      writer.commit();
    }
  }

  private static List<Long> values(TableSnapshot snapshot, String field) {
    List<Long> values = new ArrayList<>();
    try (RecordDataset dataset = RecordDataset.open(snapshot, ReadOptions.defaults())) {
      FieldReader reader = dataset.reader(field);
      int length = (int) snapshot.length();
      reader.select(LongStream.range(0, length).toArray(), 0, length);
      for (int i = 0; i < length; i++) {
        values.add(
            ByteBuffer.wrap(reader.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
      }
    }
    return values;
  }

  private Set<String> shardFiles() throws IOException {
    try (Stream<Path> all = Files.walk(path.resolve("shard"))) {
      return new TreeSet<>(all.filter(Files::isRegularFile)
          .map(file -> file.getFileName().toString())
          .toList());
    }
  }

  private void requireSound() {
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(path.toString()).allVersions().run(findings::add).isSound())
        .as("%s", findings)
        .isTrue();
  }

  @Test
  void aSweepDeletesWhatTheRewritingReplaced() throws IOException {
    Set<String> before = shardFiles();
    // Three patches, two tables files; a chunk of the shard, of each change and of the new values.
    assertThat(before).hasSize(3 + 2 + 4);
    try (Stream<Path> all = Files.walk(directory)) {
      for (Path file : (Iterable<Path>) all::iterator) {
        Files.setLastModifiedTime(file, FileTime.from(Instant.now().minus(Duration.ofHours(200))));
      }
    }
    Instant later = Instant.now().plus(Duration.ofHours(3));
    RecordTable care = RecordTable.at(LocalStorage.at(path), () -> later);
    care.expire(ExpireOptions.defaults()
        .withKeepVersions(1)
        .withOlderThan(Duration.ofHours(1))
        .withMode(CareMode.DELETE));
    care.sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {});
    OpenShards.shared().clear();
    TableSnapshot latest = table.latest();
    Set<String> named = new TreeSet<>();
    latest.shards().forEach(shard -> {
      shard.tables().forEach(file -> named.add(file.fileName()));
      shard.chunks().forEach(file -> named.add(file.fileName()));
      named.add(shard.patch().fileName());
    });
    // The chunk of the first change had the value of the rewritten field only.
    assertThat(named).hasSize(1 + 2 + 3);
    assertThat(shardFiles()).isEqualTo(named);
    assertThat(values(latest, "number")).isEqualTo(REWRITTEN);
    assertThat(values(latest, "other")).isEqualTo(OTHERS);
    requireSound();
  }

  @Test
  void aRepairGoesBackToTheVersionBefore() throws IOException {
    Files.delete(path.resolve("manifest/00000000000000000003.json"));
    OpenShards.shared().clear();
    assertThat(DatasetRepair.of(path.toString())
            .restoringPrevious()
            .run(finding -> {}, plan -> true)
            .isDone())
        .isTrue();
    assertThat(values(table.latest(), "number")).isEqualTo(CHANGED);
    rewrite();
    assertThat(values(table.latest(), "number")).isEqualTo(REWRITTEN);
    requireSound();
  }

  @Test
  void aRelayoutMovesTheNewValues() {
    TableSnapshot after = TableRelayout.of(table.latest(), RecordOrder.shuffle(7))
        .layout(OPTIONS, 1 << 20)
        .threads(1)
        .run()
        .snapshot();
    IndexMap map = after.indexMap().orElseThrow();
    Long[] numbers = new Long[REWRITTEN.size()];
    Long[] moved = new Long[REWRITTEN.size()];
    for (int i = 0; i < numbers.length; i++) {
      numbers[(int) map.newIndex(i)] = REWRITTEN.get(i);
      moved[(int) map.newIndex(i)] = OTHERS.get(i);
    }
    assertThat(values(after, "number")).isEqualTo(Arrays.asList(numbers));
    assertThat(values(after, "other")).isEqualTo(Arrays.asList(moved));
    requireSound();
  }
}
