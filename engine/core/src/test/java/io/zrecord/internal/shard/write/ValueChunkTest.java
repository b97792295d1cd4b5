package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DiskFullException;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.WritableFile;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
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

  /** The disk takes a part of a write, and has space again later. */
  @Test
  void afterAWriteThatFailedNothingIsAddedAndTheFileIsNotEnded() {
    for (int length : new int[] {1000, 100_000}) {
      AtomicBoolean isFull = new AtomicBoolean();
      ForwardingStorage full = new ForwardingStorage(new MemoryStorage()) {
        @Override
        public WritableFile create(String name) {
          return new TornFile(super.create(name), isFull);
        }
      };
      byte[] value = new byte[length];
      try (ValueChunk chunk = new ValueChunk(full, shard, id)) {
        chunk.add(value, 0, length);
        isFull.set(true);
        assertThatThrownBy(() -> {
              for (int i = 0; i < 100; i++) {
                chunk.add(value, 0, length);
              }
            })
            .isInstanceOf(DiskFullException.class);
        isFull.set(false);
        assertThatThrownBy(() -> {
              for (int i = 0; i < 100; i++) {
                chunk.add(value, 0, length);
              }
            })
            .isInstanceOf(IllegalStateException.class)
            .hasMessageContaining("has failed before");
        assertThatThrownBy(() -> chunk.finish(Durability.NONE))
            .isInstanceOf(IllegalStateException.class);
      }
    }
  }

  /** Takes half of a write while the disk is full, and then fails. */
  private record TornFile(WritableFile file, AtomicBoolean isFull) implements WritableFile {
    @Override
    public String path() {
      return file.path();
    }

    @Override
    public long positionBytes() {
      return file.positionBytes();
    }

    @Override
    public void write(ByteBuffer... buffers) {
      if (isFull.get()) {
        file.write(buffers[0].slice(0, buffers[0].remaining() / 2));
        throw new DiskFullException(path(), "no space");
      }
      file.write(buffers);
    }

    @Override
    public void force() {
      file.force();
    }

    @Override
    public void finish() {
      file.finish();
    }

    @Override
    public void close() {
      file.close();
    }
  }

  private byte[] bytes() {
    return storage.read(
        shard.directory() + "/" + ChunkFile.of(id, 0).fileName(), Integer.MAX_VALUE);
  }
}
