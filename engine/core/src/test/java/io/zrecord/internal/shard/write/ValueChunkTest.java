package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.FileHeader;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Values in the chunk of a patch. */
final class ValueChunkTest {
  private final MemoryStorage storage = new MemoryStorage();
  private final UUID id = UUID.randomUUID();
  private final ShardSummary shard =
      new ShardSummary(UUID.randomUUID(), 1, List.of(), List.of(), new TreeMap<>());

  @Test
  void eachValueIsAtItsPositionAndZerosLieBetween() {
    Random random = Budget.random();
    int[] kinds = {0, 1, 7, 8, 9, 4000, (64 << 10) - 8, (64 << 10) - 1, 64 << 10, (64 << 10) + 1};
    List<byte[]> values = new ArrayList<>();
    List<Long> positions = new ArrayList<>();
    try (ValueChunk chunk = new ValueChunk(storage, shard, id)) {
      for (int i = 0; i < 300; i++) {
        byte[] source = new byte[kinds[random.nextInt(kinds.length)] + 5];
        random.nextBytes(source);
        positions.add(chunk.add(source, 3, source.length - 5));
        values.add(Arrays.copyOfRange(source, 3, source.length - 2));
        // What was given is the caller's again.
        Arrays.fill(source, (byte) 7);
      }
      assertThat(chunk.finish(Durability.COMMIT)).isEqualTo(bytes().length);
    }
    byte[] bytes = bytes();
    int end = FileHeader.BYTES;
    for (int i = 0; i < values.size(); i++) {
      int from = Math.toIntExact(positions.get(i));
      assertThat(from % 8).isZero();
      assertThat(from).as("value %s", i).isEqualTo((end + 7) / 8 * 8);
      assertThat(Arrays.copyOfRange(bytes, end, from)).isEqualTo(new byte[from - end]);
      end = from + values.get(i).length;
      assertThat(Arrays.copyOfRange(bytes, from, end)).as("value %s", i).isEqualTo(values.get(i));
    }
    assertThat(bytes.length).isEqualTo((end + 7) / 8 * 8);
  }

  private byte[] bytes() {
    return storage.read(
        shard.directory() + "/" + ChunkFile.of(id, 0).fileName(), Integer.MAX_VALUE);
  }
}
