package io.zrecord.report;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.FieldUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.ShardUsage;
import io.zrecord.inspect.SizeHistogram;
import io.zrecord.inspect.SpaceUsage;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.Budget;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Cells and groups are joined, and nothing is lost by it. */
final class HeatMapTest {
  private static final FieldSpec FIELD =
      RecordSchema.builder().field("f", ElementType.I64).build().fields().get(0);

  private long nextIndex;
  private long bytes;

  private ShardUsage shard(int chunks) {
    List<ChunkUsage> usages = new ArrayList<>();
    SpaceUsage all = SpaceUsage.NONE;
    UUID id = new UUID(1, nextIndex);
    for (int i = 0; i < chunks; i++) {
      SpaceUsage space = new SpaceUsage(1000 + i, 900, 36 + i, 64, 10, 9);
      usages.add(new ChunkUsage(id, i, "chunk/" + i + ".zr", space, new TreeMap<>()));
      all = all.plus(space);
    }
    bytes += all.fileBytes();
    Fragmentation order = new Fragmentation(10, 1, 1, 5.0, 900, 1800);
    FieldUsage field = new FieldUsage(FIELD, 10, 0, 900, 0, SizeHistogram.EMPTY, order);
    nextIndex += 10;
    return new ShardUsage(id, nextIndex - 10, 10, all, order, usages, List.of(field));
  }

  private void check(HeatMap map, int shards, long chunks) {
    long cells = map.groups().stream().mapToLong(group -> group.cells().size()).sum();
    assertThat(map.cellCount()).isEqualTo(cells);
    assertThat(map.groups().stream().mapToLong(HeatMap.Group::shardCount).sum()).isEqualTo(shards);
    assertThat(map.groups().stream().mapToLong(HeatMap.Group::chunkCount).sum()).isEqualTo(chunks);
    long inCells = 0;
    long cellBytes = 0;
    long index = 0;
    for (HeatMap.Group group : map.groups()) {
      assertThat(group.firstIndex()).isEqualTo(index);
      index += group.recordCount();
      assertThat(group.fragmentation(0).pairCount()).isEqualTo(10 * group.shardCount());
      for (HeatMap.Cell cell : group.cells()) {
        assertThat(cell.chunkCount()).isBetween(1, map.chunksPerCell());
        inCells += cell.chunkCount();
        cellBytes += cell.space().fileBytes();
      }
    }
    assertThat(inCells).isEqualTo(chunks);
    assertThat(cellBytes).isEqualTo(bytes);
    assertThat(index).isEqualTo(10L * shards);
  }

  /** Every other shard is in the sample. */
  @Test
  void ofASampleTheTrueShardsAndRecordsAreNamed() {
    HeatMap map = new HeatMap(64, 2);
    for (int i = 0; i < 3; i++) {
      map.add(shard(1));
      nextIndex += 10;
    }
    StringWriter page = new StringWriter();
    new HeatMapSection(new Html(page), map, List.of(FIELD), index -> index / 10).writeChunks();
    assertThat(page.toString())
        .contains("Shards 0 to 2, 2 of them<")
        .contains("records 0 to 29<")
        .contains("Shard 4<")
        .contains("records 40 to 49<");
  }

  @Test
  void aFewChunksHaveACellEach() {
    HeatMap map = new HeatMap(4096, 64);
    map.add(shard(5));
    map.add(shard(0));
    map.add(shard(3));
    check(map, 3, 8);
    assertThat(map.groups()).hasSize(3);
    assertThat(map.cellCount()).isEqualTo(8);
    assertThat(map.chunksPerCell()).isEqualTo(1);
  }

  @Test
  void manySmallShardsShareGroupsAndCells() {
    HeatMap map = new HeatMap(4096, 64);
    for (int i = 0; i < 10_000; i++) {
      map.add(shard(1));
    }
    check(map, 10_000, 10_000);
    assertThat(map.groups().size()).isBetween(32, 64);
    assertThat(map.cellCount()).isBetween(2048L, 4096L);
  }

  @Test
  void theChunksOfOneShardShareCells() {
    HeatMap map = new HeatMap(4096, 64);
    map.add(shard(100_000));
    check(map, 1, 100_000);
    assertThat(map.groups()).hasSize(1);
    assertThat(map.cellCount()).isBetween(2048L, 4096L);
  }

  @Test
  void shardsOfAnySizeAddUp() {
    Random random = Budget.random();
    HeatMap map = new HeatMap(64, 8);
    int shards = 0;
    long chunks = 0;
    for (int i = 0; i < Budget.of(300); i++) {
      int count = random.nextInt(1 + random.nextInt(40));
      map.add(shard(count));
      shards++;
      chunks += count;
      assertThat(map.groups().size()).isLessThanOrEqualTo(8);
      assertThat(map.cellCount()).isLessThanOrEqualTo(64);
    }
    check(map, shards, chunks);
  }
}
