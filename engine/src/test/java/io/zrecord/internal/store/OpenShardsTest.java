package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.scan.FieldReader;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.scan.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.LocalStorage;
import io.zrecord.storage.Storage;
import io.zrecord.table.ShardWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class OpenShardsTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("text", ElementType.UTF8).build();
  private static final FieldSpec TEXT = SCHEMA.fields().get(0);

  @TempDir
  Path directory;

  private Storage storage;
  private final List<ShardSummary> summaries = new ArrayList<>();

  @BeforeEach
  void write() {
    storage = LocalStorage.at(directory);
    for (int i = 0; i < 10; i++) {
      try (ShardWriter writer = ShardWriter.create(
          storage,
          UUID.randomUUID(),
          SCHEMA,
          WriteOptions.defaults().withDurability(Durability.NONE))) {
        writer.put(0, new byte[] {(byte) i}, 0, 1);
        writer.endRecord();
        summaries.add(writer.finish().orElseThrow());
      }
    }
  }

  @Test
  void aShardOpenedAgainIsTheSame() {
    OpenShards shards = new OpenShards(100);
    assertThat(shards.get(storage, id(0))).isSameAs(shards.get(storage, id(0)));
    assertThat(shards.get(storage, id(0))).isNotSameAs(shards.get(storage, id(1)));
    OpenShard before = shards.get(storage, id(0));
    shards.clear();
    assertThat(shards.get(storage, id(0))).isNotSameAs(before);
  }

  @Test
  void mapsStayWithinTheBudgetAndAllIsStillRead() {
    // Each shard needs three maps: entries, checksums and a chunk.
    OpenShards shards = new OpenShards(7);
    List<Supplier<OpenShard>> opening = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      ShardId id = id(i);
      opening.add(() -> shards.get(storage, id));
    }
    ShardList list = new ShardList(new long[] {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, opening);
    FieldReader reader = new ShardedFieldReader(TEXT, list, Verification.FIRST, new ReadMetrics());
    for (int round = 0; round < 3; round++) {
      reader.select(new long[] {9, 0, 1, 2, 3, 4, 5, 6, 7, 8}, 0, 10);
      byte[] all = new byte[10];
      reader.copyAll(all, 0);
      assertThat(all).containsExactly(9, 0, 1, 2, 3, 4, 5, 6, 7, 8);
      assertThat(shards.mapCount()).isLessThanOrEqualTo(7);
      assertThat(new ShardedFieldReader(TEXT, list, Verification.FIRST, new ReadMetrics())
              .selectRange(0, 10, 1 << 20))
          .isEqualTo(10);
      assertThat(shards.mapCount()).isBetween(1, 7);
    }
  }

  private ShardId id(int shard) {
    ShardSummary summary = summaries.get(shard);
    return new ShardId(
        storage.location(), summary.directory(), summary.metaFile(), summary.metaChecksum());
  }
}
