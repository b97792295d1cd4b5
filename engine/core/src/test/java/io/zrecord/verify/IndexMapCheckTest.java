package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.ShardOnDisk;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whether a map gives each record an index of its own, in as many readings as it takes. */
final class IndexMapCheckTest {
  private static final int RECORDS = 20_000;
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I8).build();
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);

  @TempDir
  Path directory;

  @ParameterizedTest
  @ValueSource(ints = {1 << 28, RECORDS, RECORDS - 1, 4_097})
  void whatIsGivenTwiceIsFoundInAnyWindow(int window) {
    int[] backwards = IntStream.range(0, RECORDS).map(i -> RECORDS - 1 - i).toArray();
    assertThat(findings(backwards, window)).isEmpty();
    for (int twice : new int[] {0, 4_096, 4_097, RECORDS - 1}) {
      int[] map = backwards.clone();
      map[RECORDS - 1 - twice] = twice == 0 ? 1 : twice - 1;
      List<Finding> findings = findings(map, window);
      assertThat(findings).as("index " + twice).hasSize(1);
      assertThat(findings.get(0).kind()).isEqualTo(Finding.Kind.INDEX_MAP);
      assertThat(findings.get(0).problem())
          .contains("new index " + map[RECORDS - 1 - twice] + ";")
          .contains("such records: 1 ");
    }
  }

  @Test
  void aDamagedMapIsNoDamageOfRecords() {
    Path path = table(IntStream.range(0, RECORDS).toArray());
    Path map = path.resolve(
        RecordTable.at(LocalStorage.at(path)).latest().indexMap().orElseThrow().directory());
    ShardOnDisk files = ShardOnDisk.of(map);
    for (Path file : new Path[] {files.chunk(0), files.tables()}) {
      Damage.flip(file, -40);
      List<Finding> findings = new ArrayList<>();
      CheckSummary summary = DatasetCheck.of(path.toString()).run(findings::add);
      assertThat(findings).as("%s", file).isNotEmpty();
      assertThat(findings)
          .allMatch(f -> f.kind() == Finding.Kind.INDEX_MAP)
          .allMatch(f -> f.field() == null && f.firstIndex() == -1 && f.count() == 0);
      assertThat(summary.badValueCount()).isZero();
      Damage.flip(file, -40);
    }
    assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound()).isTrue();
  }

  private List<Finding> findings(int[] map, int window) {
    Path path = table(map);
    List<Finding> findings = new ArrayList<>();
    CheckRun run = new CheckRun(findings::add);
    Storage storage = LocalStorage.at(path);
    new IndexMapCheck(run, storage, window)
        .check(RecordTable.at(storage).latest().version());
    return findings;
  }

  private Path table(int[] map) {
    Path path = directory.resolve(UUID.randomUUID().toString());
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, OPTIONS)) {
      RecordAppender appender = writer.newAppender();
      for (int i = 0; i < map.length; i++) {
        appender.endRecord();
      }
      writer.commit();
    }
    Storage storage = LocalStorage.at(path);
    RecordTable table = RecordTable.at(storage);
    TableSnapshot before = table.latest();
    table.commit(TableChange.relayout(before, before.shards(), write(storage, map), Map.of()));
    return path;
  }

  private static ShardSummary write(Storage storage, int[] map) {
    try (ShardWriter writer =
        ShardWriter.create(storage, UUID.randomUUID(), IndexMap.SCHEMA, OPTIONS)) {
      for (int index : map) {
        writer.putLong(0, index);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }
}
