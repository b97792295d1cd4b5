package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.changes.RecordChanges;
import io.zrecord.changes.TableChanges;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetCheck;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The golden table whose fields were rewritten over patches is read, in each version. */
final class GoldenRewritesTest {
  private final RecordTable table = RecordTable.at(LocalStorage.at(GoldenRewrites.DIRECTORY));

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, GoldenRewrites.NEWEST})
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
  void aTablesFileSaysToWhichSlotsItsCommitGaveValues() {
    Storage storage = LocalStorage.at(GoldenRewrites.DIRECTORY);
    ShardSummary before = table.version(3).shards().get(0);
    ShardSummary after = table.version(4).shards().get(0);
    assertThat(after.tables()).hasSize(1 + before.tables().size());
    TablesRef file = after.tables().get(after.tables().size() - 1);
    assertThat(before.tables()).doesNotContain(file);
    SortedMap<Integer, long[]> changed = GoldenRewrites.widelyChanged();
    TablesFile tables = TablesFile.open(storage, after, file, kept -> {});
    assertThat(tables.changedByCommit(changed.firstKey()))
        .contains(changed.get(changed.firstKey()));
    RecordChanges said = TableChanges.of(storage).of(4).shards().get(0).read(storage);
    assertThat(said.deleted().count()).isEqualTo(1);
    assertThat(said.fields().get(changed.firstKey()).count())
        .isEqualTo(changed.get(changed.firstKey()).length);
    assertThat(said.fields()).hasSize(2);
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
