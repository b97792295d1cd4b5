package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.util.List;
import java.util.Optional;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The golden table whose fields were rewritten over patches is read, in each version. */
final class GoldenRewritesTest {
  private final RecordTable table = RecordTable.at(LocalStorage.at(GoldenRewrites.DIRECTORY));

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, GoldenRewrites.NEWEST})
  void everyValueIsRead(int version) {
    List<GoldenRewrites.Place> places = GoldenRewrites.places(version);
    try (RecordDataset dataset =
        RecordDataset.open(table.version(version), ReadOptions.defaults())) {
      assertThat(dataset.schema()).isEqualTo(GoldenRewrites.SCHEMA);
      assertThat(dataset.length()).isEqualTo(places.size());
      for (FieldSpec field : GoldenRewrites.SCHEMA.fields()) {
        FieldReader reader = dataset.reader(field.name());
        reader.select(LongStream.range(0, places.size()).toArray(), 0, places.size());
        for (int i = 0; i < places.size(); i++) {
          Optional<byte[]> expected = GoldenRewrites.value(field, places.get(i), version);
          String place = field.name() + " of record " + i;
          assertThat(reader.isAbsent(i)).as(place).isEqualTo(expected.isEmpty());
          assertThat(reader.value(i)).as(place).isEqualTo(expected.orElse(new byte[0]));
        }
      }
    }
  }

  @Test
  void nothingIsLeftOfThePatchOfTheSecondShard() {
    List<ShardSummary> changed = table.version(1).shards();
    List<ShardSummary> rewritten = table.version(2).shards();
    assertThat(changed).allMatch(shard -> shard.patch() != null);
    assertThat(rewritten.get(0).patch()).isNotNull().isNotEqualTo(changed.get(0).patch());
    assertThat(rewritten.get(1).patch()).isNull();
  }

  @Test
  void aCheckFindsNothing() {
    assertThat(DatasetCheck.of(GoldenRewrites.DIRECTORY.toString())
            .allVersions()
            .run(finding -> {})
            .isSound())
        .isTrue();
  }
}
