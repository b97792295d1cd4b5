package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ChunkHeaderTest {
  private static final UUID SHARD = UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
  private static final ChunkHeader HEADER = new ChunkHeader(0x01020304, SHARD);

  @Test
  void theBytesAreThoseOfTheSpecification() {
    byte[] bytes = HEADER.encode();
    assertThat(HexFormat.of().formatHex(bytes, 0, 60))
        .isEqualTo("5a52454343484e4b" + "02000000" + "40000000" + "04030201" + "00000000"
            + "9f0c2b9e6a504d0ca8b16c8f7f0e2c11" + "00".repeat(20));
    assertThat(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(60))
        .isEqualTo(Crc32c.of(bytes, 0, 60));
    assertThat(bytes).hasSize(ChunkHeader.BYTES);
    assertThatCode(() -> HEADER.check("f", bytes)).doesNotThrowAnyException();
  }

  @Test
  void everyFlippedBitIsFound() {
    for (int bit = 0; bit < ChunkHeader.BYTES * 8; bit++) {
      byte[] damaged = HEADER.encode();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> HEADER.check("/d/chunk/1.zr", damaged))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("/d/chunk/1.zr");
    }
  }

  @Test
  void anotherChunkOrShardIsRefused() {
    assertThatThrownBy(() -> HEADER.check("f", new ChunkHeader(-2, SHARD).encode()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("4294967294");
    assertThatThrownBy(
            () -> HEADER.check("f", new ChunkHeader(0x01020304, UUID.randomUUID()).encode()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(SHARD.toString());
  }

  @Test
  void anotherVersionIsUnsupported() {
    for (int version : new int[] {0, 1, 3, -1}) {
      byte[] bytes = HEADER.encode();
      ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      words.putInt(8, version).putInt(60, Crc32c.of(bytes, 0, 60));
      assertThatThrownBy(() -> HEADER.check("f", bytes))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("format version " + Integer.toUnsignedString(version))
          .hasMessageContaining(
              version == 0 || version == 1 ? "write the dataset again" : "upgrade");
    }
  }

  @Test
  void whatALaterReleaseMayOwnIsUnsupported() {
    int[][] changes = {{12, 65}, {12, 128}, {20, 1}, {40, 1}, {56, 1 << 31}};
    for (int[] change : changes) {
      byte[] bytes = HEADER.encode();
      ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      words.putInt(change[0], change[1]).putInt(60, Crc32c.of(bytes, 0, 60));
      assertThatThrownBy(() -> HEADER.check("f", bytes))
          .as("%s at %s", change[1], change[0])
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("upgrade zrecord");
    }
  }

  @Test
  void entriesKeepUnsignedNumbers() {
    long word = Entry.word1(-2, Integer.MAX_VALUE);
    assertThat(Entry.chunkId(word)).isEqualTo(-2);
    assertThat(Entry.physicalLength(word)).isEqualTo(Integer.MAX_VALUE);
    assertThat(Entry.isAbsent(0, word)).isFalse();
    assertThat(Entry.isAbsent(64, 0)).isFalse();
    assertThat(Entry.isAbsent(0, 0)).isTrue();
    byte[] bytes = new byte[Entry.BYTES];
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putLong(64).putLong(Entry.word1(3, 5));
    assertThat(HexFormat.of().formatHex(bytes))
        .isEqualTo("4000000000000000" + "03000000" + "05000000");
  }
}
