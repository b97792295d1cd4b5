package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.shard.ChunkFile;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The golden table whose shard names chunks of other shards is read, in each version. */
final class GoldenCarriedTest {
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void everyRecordIsRead(int version) {
    RecordTable table = RecordTable.at(LocalStorage.at(GoldenCarried.DIRECTORY));
    try (RecordDataset dataset =
        RecordDataset.open(table.version(version), ReadOptions.defaults())) {
      int length = (int) dataset.length();
      long[] all = LongStream.range(0, length).toArray();
      FieldReader numbers = dataset.reader("number");
      FieldReader texts = dataset.reader("text");
      numbers.select(all, 0, length);
      texts.select(all, 0, length);
      List<GoldenCarried.Item> found = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        found.add(new GoldenCarried.Item(
            ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong(),
            texts.isAbsent(i) ? null : new String(texts.value(i), StandardCharsets.UTF_8)));
      }
      assertThat(found).isEqualTo(GoldenCarried.items(version));
    }
  }

  @Test
  void theNewestVersionNamesChunksOfTwoOtherShards() {
    RecordTable table = RecordTable.at(LocalStorage.at(GoldenCarried.DIRECTORY));
    assertThat(table.latest().shards().get(0).chunks().stream()
            .map(ChunkFile::owner)
            .distinct())
        .hasSize(3)
        .containsNull();
  }

  @Test
  void aCheckFindsNothing() {
    assertThat(DatasetCheck.of(GoldenCarried.DIRECTORY.toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }
}
