package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.testing.Budget;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import java.util.zip.DataFormatException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ValueCodecTest {
  static Stream<Compression> compressions() {
    return Stream.of(
        Compression.of(Codec.FLATE),
        new Compression(Codec.FLATE, 1),
        Compression.of(Codec.ZSTD),
        new Compression(Codec.ZSTD, 19),
        Compression.of(Codec.LZ4),
        new Compression(Codec.LZ4, 9));
  }

  private static byte[] compressible(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i / 50 % 7);
    }
    return bytes;
  }

  private static byte[] random(int length, long seed) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private static byte[] payload(ValueCodec codec, byte[] value) {
    byte[] target = new byte[value.length + value.length / 200 + 1000];
    int length = codec.compress(value, 0, value.length, target, 0, target.length);
    assertThat(length).isPositive();
    return Arrays.copyOf(target, length);
  }

  private static byte[] decode(ValueCodec codec, byte[] payload, int length)
      throws DataFormatException {
    byte[] target = new byte[length + 20];
    Arrays.fill(target, (byte) 0x5a);
    try {
      codec.decompress(payload, 0, payload.length, target, 10, length);
    } finally {
      for (int i = 0; i < 10; i++) {
        assertThat(target[i]).isEqualTo((byte) 0x5a);
        assertThat(target[length + 10 + i]).isEqualTo((byte) 0x5a);
      }
    }
    return Arrays.copyOfRange(target, 10, length + 10);
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void valuesComeBack(Compression compression) throws DataFormatException {
    try (ValueCodec codec = ValueCodec.of(compression)) {
      for (int length : new int[] {0, 1, 2, 3, 100, 4096, 65_537, 3_000_000}) {
        for (byte[] value : List.of(compressible(length), random(length, 3))) {
          assertThat(decode(codec, payload(codec, value), length)).isEqualTo(value);
        }
      }
    }
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void partsOfArraysAreUsedAsTold(Compression compression) throws DataFormatException {
    byte[] source = random(1000, 1);
    Arrays.fill(source, 100, 600, (byte) 7);
    byte[] packed = new byte[2000];
    byte[] back = new byte[2000];
    try (ValueCodec codec = ValueCodec.of(compression)) {
      int length = codec.compress(source, 100, 500, packed, 33, 499);
      assertThat(length).isBetween(1, 100);
      codec.decompress(packed, 33, length, back, 44, 500);
    }
    assertThat(Arrays.copyOfRange(back, 44, 544)).containsOnly(7);
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void whatDoesNotPayIsNotCompressed(Compression compression) {
    try (ValueCodec codec = ValueCodec.of(compression)) {
      for (int length : new int[] {2, 10, 1000, 100_000}) {
        byte[] value = random(length, 9);
        byte[] target = new byte[length];
        assertThat(codec.compress(value, 0, length, target, 0, length - 1)).isEqualTo(-1);
        assertThat(target[length - 1]).as("beyond the limit").isZero();
      }
      // A refusal leaves nothing that would spoil the next value.
      assertThat(payload(codec, compressible(1000)).length).isLessThan(200);
    }
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void anotherLengthIsCorruption(Compression compression) throws DataFormatException {
    try (ValueCodec codec = ValueCodec.of(compression)) {
      for (int length : new int[] {1, 100, 70_000}) {
        byte[] value = compressible(length);
        byte[] payload = payload(codec, value);
        for (int wrong : new int[] {0, length - 1, length + 1, length * 2 + 100}) {
          if (wrong != length) {
            assertThatThrownBy(() -> decode(codec, payload, wrong))
                .as("%s instead of %s", wrong, length)
                .isInstanceOf(DataFormatException.class);
          }
        }
        assertThat(decode(codec, payload, length)).isEqualTo(value);
      }
    }
  }

  /** A payload that is said to be longer makes no reader take memory for it. */
  @ParameterizedTest
  @MethodSource("compressions")
  void theHighestRatioIsPossibleAndNoMore(Compression compression) {
    int length = 1 << 24;
    try (ValueCodec codec = ValueCodec.of(compression)) {
      int payload = payload(codec, new byte[length]).length;
      assertThat(ValueCodec.isPossible(compression.codec(), payload, length)).isTrue();
      int most = switch (compression.codec()) {
        case LZ4 -> 255;
        case FLATE -> 1032;
        default -> 1 << 17;
      };
      assertThat((double) length / payload).isGreaterThan(most / 8.0);
      assertThat(ValueCodec.isPossible(compression.codec(), 16, 16 * most)).isTrue();
      assertThat(ValueCodec.isPossible(compression.codec(), 16, 16 * most + 1)).isFalse();
    }
  }

  /** One literal, a match of the distance 0 (or 1: the control), and the last literals. */
  @Test
  void aMatchFromNoDistanceGivesNothingThatWasInTheTarget() throws DataFormatException {
    byte[] none = {0x1b, 'a', 0, 0, 0x50, 'b', 'c', 'd', 'e', 'f'};
    byte[] one = {0x1b, 'a', 1, 0, 0x50, 'b', 'c', 'd', 'e', 'f'};
    try (ValueCodec fast = ValueCodec.of(Compression.of(Codec.LZ4));
        ValueCodec inJava = ValueCodec.lz4InJava(0)) {
      for (ValueCodec codec : List.of(fast, inJava)) {
        assertThat(decode(codec, one, 21))
            .isEqualTo("a".repeat(16).concat("bcdef").getBytes(StandardCharsets.US_ASCII));
      }
      assertThatThrownBy(() -> decode(inJava, none, 21))
          .isInstanceOf(DataFormatException.class)
          .hasMessageContaining("no distance");
      assertThat(decode(fast, none, 21))
          .isEqualTo(("a" + "\0".repeat(15) + "bcdef").getBytes(StandardCharsets.US_ASCII));
    }
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void whatIsCompressedWithTheNativeLibraryIsDecodedWithoutIt(Compression compression)
      throws DataFormatException {
    if (compression.codec() != Codec.LZ4) {
      return;
    }
    Random random = Budget.random();
    try (ValueCodec codec = ValueCodec.of(compression);
        ValueCodec inJava = ValueCodec.lz4InJava(0)) {
      for (int length = 1; length < 200_000; length = length * 3 / 2 + 1) {
        byte[] mixed = random(length, Budget.seed() + length);
        for (int at = 0; at + 40 < length; at += 1 + random.nextInt(600)) {
          Arrays.fill(mixed, at, Math.min(length, at + random.nextInt(1000)), (byte) 3);
        }
        assertThat(decode(inJava, payload(codec, mixed), length)).isEqualTo(mixed);
      }
    }
  }

  @Test
  void aPayloadIsOneZstandardFrame() throws DataFormatException {
    byte[] skippable = {0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 7, 7};
    // Magic, no flags, a window of 2^28 bytes, one raw block of one byte.
    byte[] wide = {0x28, (byte) 0xb5, 0x2f, (byte) 0xfd, 0, (byte) (18 << 3), 9, 0, 0, 42};
    try (ValueCodec codec = ValueCodec.of(Compression.of(Codec.ZSTD))) {
      byte[] frame = payload(codec, compressible(300));
      assertThat(decode(codec, frame, 300)).isEqualTo(compressible(300));
      byte[] half = payload(codec, compressible(150));
      assertThatThrownBy(() -> decode(codec, joined(half, half), 300))
          .isInstanceOf(DataFormatException.class);
      assertThatThrownBy(() -> decode(codec, joined(frame, skippable), 300))
          .isInstanceOf(DataFormatException.class);
      assertThatThrownBy(() -> decode(codec, joined(skippable, frame), 300))
          .isInstanceOf(DataFormatException.class);
      assertThatThrownBy(() -> decode(codec, wide, 1))
          .isInstanceOf(DataFormatException.class)
          .hasMessageContaining("window");
      byte[] widest = wide.clone();
      widest[5] = (byte) (17 << 3);
      assertThat(decode(codec, widest, 1)).containsExactly(42);
    }
  }

  private static byte[] joined(byte[] first, byte[] second) {
    byte[] joined = Arrays.copyOf(first, first.length + second.length);
    System.arraycopy(second, 0, joined, first.length, second.length);
    return joined;
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void aCutOrLongerPayloadIsCorruption(Compression compression) {
    try (ValueCodec codec = ValueCodec.of(compression)) {
      byte[] payload = payload(codec, random(300, 5));
      for (int length = 0; length < payload.length; length++) {
        byte[] cut = Arrays.copyOf(payload, length);
        assertThatThrownBy(() -> decode(codec, cut, 300)).isInstanceOf(DataFormatException.class);
      }
      byte[] longer = Arrays.copyOf(payload, payload.length + 1);
      assertThatThrownBy(() -> decode(codec, longer, 300)).isInstanceOf(DataFormatException.class);
    }
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void aBombIsDecodedNoFurtherThanItsLength(Compression compression) {
    try (ValueCodec codec = ValueCodec.of(compression)) {
      byte[] bomb = payload(codec, new byte[50_000_000]);
      assertThat(bomb.length).isLessThan(300_000);
      assertThatThrownBy(() -> decode(codec, bomb, 1000)).isInstanceOf(DataFormatException.class);
    }
  }

  @ParameterizedTest
  @MethodSource("compressions")
  void damagedPayloadsAreRefusedOrOfTheirLength(Compression compression) {
    long seed = Budget.seed();
    Random random = Budget.random();
    int rounds = Budget.of(20_000);
    try (ValueCodec codec = ValueCodec.of(compression)) {
      byte[] value = compressible(5000);
      byte[] payload = payload(codec, value);
      for (int round = 0; round < rounds; round++) {
        byte[] damaged =
            round % 4 == 0 ? random(random.nextInt(200), seed + round) : payload.clone();
        if (damaged.length > 0) {
          damaged[random.nextInt(damaged.length)] ^= (byte) (1 + random.nextInt(255));
        }
        try {
          assertThat(decode(codec, damaged, value.length)).hasSize(value.length);
        } catch (DataFormatException expected) {
          assertThat(expected).isNotNull();
        } catch (RuntimeException | Error e) {
          throw new AssertionError("seed " + seed + ", round " + round, e);
        }
      }
    }
  }

  @Test
  void aPrefixSaysLengthAndWhetherItIsAsIs() {
    assertThat(ValueCodec.prefixAsIs(5)).isEqualTo(0x80000005);
    assertThat(ValueCodec.isAsIs(0x80000005)).isTrue();
    assertThat(ValueCodec.isAsIs(Integer.MAX_VALUE)).isFalse();
    assertThat(ValueCodec.logicalLength(-1)).isEqualTo(Integer.MAX_VALUE);
    assertThatThrownBy(() -> ValueCodec.of(Compression.RAW))
        .isInstanceOf(IllegalArgumentException.class);
  }
}
