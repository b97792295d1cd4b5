package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Manifests stay small when shards become many. One shard takes the part of all, because a manifest
 * does not care.
 */
final class ManyShardsTest {
  @TempDir
  Path directory;

  private long manifestBytes(long version) throws IOException {
    return Files.size(directory.resolve("manifest").resolve(String.format("%020d.json", version)));
  }

  @Test
  void theOldestShardsSpillToLists() throws IOException {
    Storage storage = LocalStorage.at(directory);
    RecordTable table = RecordTable.at(storage);
    List<ShardSummary> written = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      written.add(Shards.write(storage, Shards.SCHEMA, i));
    }
    List<ShardSummary> expected = new ArrayList<>();
    for (int count : new int[] {999, 1, 1, 1, 999, 2500, 1}) {
      List<ShardSummary> added = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        added.add(written.get(expected.size() % 7));
        expected.add(added.get(i));
      }
      TableSnapshot committed =
          table.commit(Shards.append(Shards.newest(table), added.toArray(ShardSummary[]::new)));
      assertThat(committed.length()).isEqualTo(expected.size());
      assertThat(table.latest().shards()).isEqualTo(expected);
    }
    assertThat(storage.list("list")).hasSize(4);
    assertThat(manifestBytes(6)).isLessThan(manifestBytes(0));
    assertThat(table.version(1).shards()).hasSize(1000);
  }

  @Test
  void aHundredThousandShardsAreOneCommit() throws IOException {
    Storage storage = LocalStorage.at(directory);
    RecordTable table = RecordTable.at(storage);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 1, 2);
    ShardSummary[] added = Collections.nCopies(100_000, shard).toArray(ShardSummary[]::new);
    assertThat(table.commit(Shards.append(OptionalLong.empty(), added)).version())
        .isZero();
    TableSnapshot newest = table.latest();
    assertThat(newest.length()).isEqualTo(200_000);
    assertThat(newest.shards()).hasSize(100_000);
    assertThat(newest.shardOf(199_999)).isEqualTo(99_999);
    table.commit(Shards.append(OptionalLong.of(0), shard));
    assertThat(manifestBytes(1)).isLessThan(20_000);
  }

  @Test
  void shardsThatReadersWouldRefuseAreNotCommitted() {
    Storage storage = LocalStorage.at(directory);
    RecordTable table = RecordTable.at(storage);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 1, 2);
    SortedMap<Integer, Long> values = new TreeMap<>(Map.of(1, shard.chunkBytes() + 1));
    ShardSummary refused =
        new ShardSummary(shard.id(), shard.length(), shard.chunks(), shard.tables(), values);
    // In the manifest, and in a list.
    for (int count : new int[] {1, 1001}) {
      ShardSummary[] added = Collections.nCopies(count, refused).toArray(ShardSummary[]::new);
      assertThatThrownBy(() -> table.commit(Shards.append(OptionalLong.empty(), added)))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining("readers would refuse it");
      assertThat(table.exists()).isFalse();
      assertThat(storage.list("list")).isEmpty();
    }
  }
}
