package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class FileHeaderTest {
  private static final UUID SHARD = new UUID(0x0102030405060708L, 0x090a0b0c0d0e0f10L);
  private static final UUID FILE = new UUID(3, 4);
  private static final FileHeader HEADER = new FileHeader(FileHeader.Kind.TABLES, SHARD, FILE);

  private static byte[] with(int at, int value) {
    byte[] bytes = HEADER.encode();
    ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    words.putInt(at, value).putInt(60, Crc32c.of(bytes, 0, 60));
    return bytes;
  }

  @Test
  void theBytesAreThoseOfTheSpecification() {
    byte[] bytes = HEADER.encode();
    ByteBuffer words = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(bytes).hasSize(64);
    assertThat(new String(bytes, 0, 8, StandardCharsets.US_ASCII)).isEqualTo("ZRECTBLS");
    assertThat(words.getInt(8)).isEqualTo(2);
    assertThat(words.getInt(12)).isEqualTo(64);
    assertThat(bytes[16]).isEqualTo((byte) 1);
    assertThat(bytes[31]).isEqualTo((byte) 16);
    assertThat(bytes[39]).isEqualTo((byte) 3);
    assertThat(bytes[47]).isEqualTo((byte) 4);
    assertThat(words.getLong(48)).isZero();
    assertThat(words.getInt(56)).isZero();
    assertThat(words.getInt(60)).isEqualTo(Crc32c.of(bytes, 0, 60));
    HEADER.check("f", bytes);
  }

  @Test
  void everyFlippedBitIsFound() {
    for (int bit = 0; bit < 512; bit++) {
      byte[] bytes = HEADER.encode();
      bytes[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> HEADER.check("f", bytes)).isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void theHeaderOfAnotherFileIsNamed() {
    UUID other = new UUID(5, 6);
    assertThatThrownBy(
            () -> HEADER.check("f", new FileHeader(FileHeader.Kind.TABLES, SHARD, other).encode()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(other.toString())
        .hasMessageContaining(FILE.toString());
    assertThatThrownBy(
            () -> HEADER.check("f", new FileHeader(FileHeader.Kind.TABLES, other, FILE).encode()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("shard " + other);
    assertThatThrownBy(
            () -> HEADER.check("f", new FileHeader(FileHeader.Kind.CHUNK, SHARD, FILE).encode()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("not a tables file");
  }

  @Test
  void whatALaterReleaseMayUseIsNotDamage() {
    for (byte[] bytes : new byte[][] {with(8, 3), with(12, 128), with(48, 1), with(56, 1 << 31)}) {
      assertThatThrownBy(() -> HEADER.check("f", bytes))
          .isInstanceOf(UnsupportedFormatException.class);
    }
  }
}
