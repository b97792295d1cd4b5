package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.BlockShape;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.Transform;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The golden table of blocks is read, and has what it is there for. */
final class GoldenBlocksTest {

  @Test
  void everyValueIsRead() {
    try (RecordDataset dataset = RecordDataset.open(GoldenBlocks.DIRECTORY.toString())) {
      assertThat(dataset.schema()).isEqualTo(GoldenBlocks.SCHEMA);
      assertThat(dataset.length()).isEqualTo(4L * GoldenBlocks.RECORDS);
      for (FieldSpec field : GoldenBlocks.SCHEMA.fields()) {
        FieldReader reader = dataset.reader(field.name());
        int count = 4 * GoldenBlocks.RECORDS;
        assertThat(reader.selectRange(0, count, Long.MAX_VALUE)).isEqualTo(count);
        for (int i = 0; i < count; i++) {
          Optional<byte[]> expected = GoldenBlocks.value(field, i % GoldenBlocks.RECORDS);
          String place = field.name() + " of record " + i;
          assertThat(reader.isAbsent(i)).as(place).isEqualTo(expected.isEmpty());
          assertThat(reader.value(i)).as(place).isEqualTo(expected.orElse(new byte[0]));
        }
      }
    }
  }

  @Test
  void aCheckFindsNothing() {
    assertThat(DatasetCheck.of(GoldenBlocks.DIRECTORY.toString())
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void blocksOfEachKindAreThere() throws IOException {
    Set<Transform> transforms = EnumSet.noneOf(Transform.class);
    int asIs = 0;
    int lone = 0;
    try (Stream<Path> shards = Files.list(GoldenBlocks.DIRECTORY.resolve("shard"))) {
      for (Path directory : shards.toList()) {
        ShardOnDisk shard = ShardOnDisk.of(directory);
        for (FieldSpec field : GoldenBlocks.SCHEMA.fields()) {
          assertThat(shard.field(field.id()).blockBytes()).isEqualTo(4096);
          long blocks = BlockUnits.blocks(shard.field(field.id()).offsets().bytes());
          for (long block = 0; block < blocks; block++) {
            BlockRecord record = shard.block(field.id(), block);
            asIs += BlockShape.isAsIs(record.flags()) ? 1 : 0;
            lone += record.slots() == 1 ? 1 : 0;
            transforms.add(BlockShape.transform(record.flags()));
          }
        }
      }
    }
    assertThat(transforms)
        .containsExactlyInAnyOrderElementsOf(
            List.of(Transform.NONE, Transform.TRANSPOSE, Transform.DELTA));
    assertThat(asIs).isPositive();
    // One or two texts of each codec and shard.
    assertThat(lone).isGreaterThanOrEqualTo(12);
  }
}
