package io.zrecord.shard;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

final class ShardSummaryTest {
  private static ShardSummary shard(SortedMap<Integer, Long> valueBytes, String unknown) {
    return new ShardSummary(
        new UUID(1, 1), 10, List.of(), List.of(), valueBytes, List.of(), null, unknown);
  }

  @Test
  void aShardWithoutSizesIsNotCopied() {
    ShardSummary bare = shard(Collections.emptySortedMap(), "");
    assertThat(bare.withoutSizes()).isSameAs(bare);
    SortedMap<Integer, Long> sizes = new TreeMap<>();
    sizes.put(1, 7L);
    assertThat(shard(sizes, "").withoutSizes()).isEqualTo(bare);
    assertThat(shard(Collections.emptySortedMap(), "{\"later\":1}").withoutSizes())
        .isEqualTo(bare);
  }
}
