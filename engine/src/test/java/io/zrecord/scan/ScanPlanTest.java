package io.zrecord.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.read.IndexSet;
import io.zrecord.scan.ScanPlan.ShardSlice;
import io.zrecord.scan.ScanPlan.Split;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.Snapshots;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class ScanPlanTest {
  private static final long MIB = 1 << 20;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("image", ElementType.BYTES)
      .field("label", ElementType.I32)
      .build();
  private static final List<FieldSpec> IMAGE = SCHEMA.fields().subList(0, 1);
  private static final IndexSet ALL = IndexSet.range(0, Long.MAX_VALUE);

  /** Makes a shard whose images have the given bytes, a record a KiB. */
  private static ShardSummary shard(long bytes) {
    long records = Math.max(1, bytes / 1024);
    return new ShardSummary(
        UUID.randomUUID(),
        records,
        List.of(ChunkFile.of(UUID.randomUUID(), 2 * bytes)),
        List.of(),
        new TreeMap<>(Map.of(1, bytes, 2, 4 * records)));
  }

  private static TableSnapshot table(ShardSummary... shards) {
    return Snapshots.of(SCHEMA, List.of(shards));
  }

  private static List<Long> bytesOf(List<Split> splits) {
    return splits.stream().map(Split::bytes).toList();
  }

  /** Requires that the splits in order cover exactly the records. */
  private static void requireCovers(TableSnapshot table, List<Split> splits, IndexSet indices) {
    IndexSet covered = IndexSet.empty();
    long previousEnd = -1;
    long total = 0;
    for (Split split : splits) {
      long inSplit = 0;
      for (ShardSlice slice : split.slices()) {
        assertThat(slice.indices().isEmpty()).isFalse();
        IndexSet global = slice.indices().shift(slice.firstIndex());
        assertThat(slice.shard()).isSameAs(table.shards().get(table.shardOf(global.rangeFrom(0))));
        assertThat(global.rangeFrom(0)).isGreaterThanOrEqualTo(previousEnd);
        previousEnd = global.rangeTo(global.rangeCount() - 1);
        covered = covered.union(global);
        inSplit += global.count();
      }
      assertThat(split.recordCount()).isEqualTo(inSplit).isPositive();
      total += inSplit;
    }
    assertThat(covered).isEqualTo(indices.intersect(IndexSet.range(0, table.length())));
    assertThat(total).isEqualTo(covered.count());
  }

  @Test
  void cutsFallOnTheBoundariesOfShards() {
    TableSnapshot table = table(shard(100 * MIB), shard(100 * MIB), shard(100 * MIB));
    List<Split> splits = ScanPlan.divide(table, IMAGE, ALL, SplitSizing.atLeast(1));
    assertThat(bytesOf(splits)).containsExactly(100 * MIB, 100 * MIB, 100 * MIB);
    assertThat(splits).allMatch(split -> split.slices().size() == 1);
  }

  @Test
  void bigShardsAreDividedEvenlyAndSmallOnesPacked() {
    TableSnapshot big = table(shard(300 * MIB));
    assertThat(bytesOf(ScanPlan.divide(big, IMAGE, ALL, SplitSizing.atLeast(1))))
        .containsExactly(100 * MIB, 100 * MIB, 100 * MIB);
    ShardSummary[] small = new ShardSummary[256];
    for (int i = 0; i < small.length; i++) {
      small[i] = shard(MIB);
    }
    assertThat(bytesOf(ScanPlan.divide(table(small), IMAGE, ALL, SplitSizing.atLeast(1))))
        .containsExactly(128 * MIB, 128 * MIB);
    assertThat(ScanPlan.divide(table(small), IMAGE, ALL, SplitSizing.atLeast(16)))
        .hasSize(16);
    // 4 bytes of every KiB: one MiB in all.
    assertThat(ScanPlan.divide(
            table(small), SCHEMA.fields().subList(1, 2), ALL, SplitSizing.atLeast(16)))
        .hasSize(1);
  }

  @Test
  void aScanThatNeedsNoFieldIsDividedByRecords() {
    TableSnapshot table = table(shard(1024 * MIB), shard(3072 * MIB));
    List<Split> splits = ScanPlan.divide(table, List.of(), ALL, SplitSizing.atLeast(4));
    assertThat(splits).hasSize(4).extracting(Split::bytes).containsOnly(0L);
    requireCovers(table, splits, ALL);
    assertThat(ScanPlan.divide(table, List.of(), IndexSet.empty(), SplitSizing.atLeast(4)))
        .isEmpty();
  }

  @Test
  void bytesAreExactForWholeShardsAndInProportionInside() {
    TableSnapshot table = table(shard(150 * MIB), shard(7 * MIB));
    assertThat(ScanPlan.estimateBytes(table, SCHEMA.fields(), ALL))
        .isEqualTo(157 * MIB + 4 * table.length());
    assertThat(ScanPlan.estimateBytes(table, IMAGE, IndexSet.range(0, 1024))).isEqualTo(MIB);
    assertThat(ScanPlan.estimateBytes(table, List.of(), ALL)).isZero();
  }

  @Test
  void everySplitHasItsSizeWhateverTheTable() {
    Random random = Budget.random();
    for (int round = Budget.of(300); round > 0; round--) {
      requireSizes(random);
    }
  }

  private static void requireSizes(Random random) {
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 1 + random.nextInt(20); i > 0; i--) {
      shards.add(shard(1024L * (1 + random.nextInt(random.nextBoolean() ? 1500 : 600_000))));
    }
    TableSnapshot table = Snapshots.of(SCHEMA, shards);
    IndexSet indices = random.nextBoolean()
        ? ALL
        : IndexSet.range(
            random.nextInt((int) table.length()), random.nextInt((int) table.length()));
    SplitSizing sizing = new SplitSizing(0, random.nextInt(40), MIB, 32 * MIB);
    List<Split> splits = ScanPlan.divide(table, IMAGE, indices, sizing);
    requireCovers(table, splits, indices);
    long total = ScanPlan.estimateBytes(table, IMAGE, indices);
    long tolerance = 4096;
    for (Split split : splits) {
      assertThat(split.bytes()).isLessThanOrEqualTo(32 * MIB + tolerance);
      if (splits.size() > 1) {
        assertThat(split.bytes()).isGreaterThanOrEqualTo(MIB - tolerance);
      }
    }
    assertThat(splits.size())
        .isGreaterThanOrEqualTo((int) Math.min(sizing.minimumSplits(), total / (2 * MIB)));

    int exactly = 1 + random.nextInt(200);
    List<Split> even = ScanPlan.divide(table, IMAGE, indices, SplitSizing.exactly(exactly));
    requireCovers(table, even, indices);
    long records = indices.intersect(IndexSet.range(0, table.length())).count();
    assertThat(even).hasSize((int) Math.min(exactly, records));
    for (Split split : even) {
      assertThat(split.bytes()).isLessThanOrEqualTo(total / even.size() + tolerance);
    }
  }

  @Test
  void moreSplitsThanRecordsAreAsManyAsRecords() {
    TableSnapshot table = table(shard(3 * 1024), shard(2 * 1024));
    assertThat(ScanPlan.divide(table, List.of(), ALL, SplitSizing.exactly(100)))
        .hasSize(5)
        .extracting(Split::recordCount)
        .containsOnly(1L);
  }

  @Test
  void sparseIndicesOfManyShardsArePlannedInOnePass() {
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      shards.add(shard(MIB));
    }
    TableSnapshot table = Snapshots.of(SCHEMA, shards);
    IndexSet sparse =
        IndexSet.of(LongStream.range(0, 10_000).map(i -> i * 1024 + 5).toArray());
    List<Split> splits = ScanPlan.divide(table, IMAGE, sparse, SplitSizing.atLeast(4));
    assertThat(splits).hasSize(4);
    assertThat(splits.stream().mapToLong(Split::recordCount).sum()).isEqualTo(10_000);
    assertThat(splits.stream().mapToInt(split -> split.slices().size()).sum()).isEqualTo(10_000);
  }
}
