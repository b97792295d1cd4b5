package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.errors.ZRecordException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class RunsFileTest {
  private static final Binding BINDING = new Binding(new UUID(1, 2), 3);
  private static final RunsFile SAMPLE = new RunsFile(
      50_000,
      4,
      true,
      true,
      List.of(new Run(0, 30_000, 64, 0, 0), new Run(30_000, 20_000, 128, 1, 2)),
      new int[] {11, 12, 13, 14},
      new int[] {21});

  private static RunsFile read(byte[] file) {
    return RunsFile.read("/d/x.runs", file, 50_000, 4, true, BINDING);
  }

  private static ByteBuffer words(byte[] file) {
    return ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static int checksum(byte[] file) {
    return BINDING.bind(Binding.Kind.RUNS, 0, Crc32c.of(file, 0, file.length - 4));
  }

  private static byte[] resealed(byte[] file) {
    words(file).putInt(file.length - 4, checksum(file));
    return file;
  }

  @Test
  void theBytesAreThoseOfTheSpecification() {
    byte[] file = SAMPLE.write(BINDING);
    ByteBuffer words = words(file);
    assertThat(file).hasSize(64 + 2 * 40 + 4 * 4 + 4 + 4);
    assertThat(new String(file, 0, 8, java.nio.charset.StandardCharsets.US_ASCII))
        .isEqualTo("ZRECRUNS");
    assertThat(words.getInt(8)).isEqualTo(2);
    assertThat(words.getInt(12)).isEqualTo(64);
    assertThat(words.getLong(16)).isEqualTo(50_000);
    assertThat(words.getInt(24)).isEqualTo(4);
    assertThat(words.getInt(28)).isEqualTo(2);
    assertThat(words.getInt(32)).isEqualTo(65536);
    assertThat(words.getInt(36)).isEqualTo(3);
    assertThat(words.getLong(40)).isEqualTo(4);
    assertThat(words.getLong(48)).isEqualTo(1);
    assertThat(words.getLong(56)).isZero();
    assertThat(words.getLong(104)).isEqualTo(30_000);
    assertThat(words.getLong(112)).isEqualTo(20_000);
    assertThat(words.getLong(120)).isEqualTo(128);
    assertThat(words.getInt(128)).isEqualTo(1);
    assertThat(words.getInt(132)).isEqualTo(4);
    assertThat(words.getLong(136)).isEqualTo(2);
    assertThat(words.getInt(144)).isEqualTo(11);
    assertThat(words.getInt(160)).isEqualTo(21);
    assertThat(words.getInt(164)).isEqualTo(checksum(file));
  }

  @Test
  void whatIsWrittenIsReadBack() {
    RunsFile read = read(SAMPLE.write(BINDING));
    assertThat(read).usingRecursiveComparison().isEqualTo(SAMPLE);
    RunsFile plain =
        new RunsFile(3, 8, false, true, List.of(new Run(0, 3, 64, 7, 0)), new int[0], new int[0]);
    assertThat(RunsFile.read("f", plain.write(BINDING), 3, 8, false, BINDING))
        .usingRecursiveComparison()
        .isEqualTo(plain);
  }

  @Test
  void everyFlippedBitAndEveryCutIsFound() {
    byte[] file = SAMPLE.write(BINDING);
    for (int bit = 0; bit < file.length * 8; bit++) {
      byte[] damaged = file.clone();
      damaged[bit / 8] ^= (byte) (1 << bit % 8);
      assertThatThrownBy(() -> read(damaged))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("/d/x.runs");
    }
    for (int length = 0; length < file.length; length++) {
      byte[] cut = Arrays.copyOf(file, length);
      assertThatThrownBy(() -> read(cut)).isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void contradictionsUnderAValidChecksumAreCorrupt() {
    long[][] changes = {
      // position, bytes of the word, value
      {12, 4, 65},
      {16, 8, 49_999},
      {16, 8, -1},
      {24, 4, 0},
      {24, 4, 8},
      {28, 4, 1},
      {28, 4, 3},
      {28, 4, -1},
      {28, 4, Integer.MAX_VALUE},
      {32, 4, 4096},
      {36, 4, 0},
      {36, 4, 1},
      {36, 4, 2},
      {40, 8, 3},
      {40, 8, -1},
      {40, 8, Long.MAX_VALUE},
      {40, 8, 1L << 62},
      {48, 8, 0},
      {48, 8, 2},
      {48, 8, Long.MIN_VALUE},
      {64, 8, 1},
      {72, 8, 0},
      {72, 8, 30_001},
      {72, 8, -1},
      {72, 8, Long.MAX_VALUE},
      {80, 8, 0},
      {80, 8, 63},
      {80, 8, 68},
      {80, 8, -8},
      {92, 4, 8},
      {96, 8, 1},
      {104, 8, 29_999},
      {112, 8, 19_999},
      {136, 8, 1},
      {136, 8, 3},
      {136, 8, -1},
    };
    for (long[] change : changes) {
      byte[] file = SAMPLE.write(BINDING);
      if (change[1] == 4) {
        words(file).putInt((int) change[0], (int) change[2]);
      } else {
        words(file).putLong((int) change[0], change[2]);
      }
      assertThatThrownBy(() -> read(resealed(file)))
          .as("%s at %s", change[2], change[0])
          .isInstanceOf(CorruptDataException.class);
    }
  }

  @Test
  void itMustFitTheShard() {
    byte[] file = SAMPLE.write(BINDING);
    assertThatThrownBy(() -> RunsFile.read("f", file, 50_001, 4, true, BINDING))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("50001");
    assertThatThrownBy(() -> RunsFile.read("f", file, 50_000, 8, true, BINDING))
        .isInstanceOf(CorruptDataException.class);
    assertThatThrownBy(() -> RunsFile.read("f", file, 50_000, 4, false, BINDING))
        .isInstanceOf(CorruptDataException.class);
  }

  @Test
  void itMustBeOfItsFieldAndShard() {
    byte[] file = SAMPLE.write(BINDING);
    for (Binding other : List.of(new Binding(new UUID(1, 3), 3), new Binding(new UUID(1, 2), 4))) {
      assertThatThrownBy(() -> RunsFile.read("f", file, 50_000, 4, true, other))
          .isInstanceOf(CorruptDataException.class)
          .hasMessageContaining("of another field or shard");
      assertThat(RunsFile.read("f", SAMPLE.write(other), 50_000, 4, true, other).runs())
          .isEqualTo(SAMPLE.runs());
    }
  }

  @Test
  void anotherVersionIsUnsupported() {
    for (int version : new int[] {0, 1, 3, Integer.MAX_VALUE, -1}) {
      byte[] file = SAMPLE.write(BINDING);
      words(file).putInt(8, version);
      assertThatThrownBy(() -> read(resealed(file)))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining(Integer.toUnsignedString(version));
    }
  }

  @Test
  void mutatedContentUnderAValidChecksumIsRefusedOrHarmless() {
    long seed = System.nanoTime();
    Random random = new Random(seed);
    for (int round = 0; round < 100_000; round++) {
      byte[] file = SAMPLE.write(BINDING);
      for (int k = random.nextInt(3); k >= 0; k--) {
        file[8 + random.nextInt(file.length - 12)] = (byte) random.nextInt();
      }
      try {
        RunsFile read = read(resealed(file));
        assertThat(read.runs().stream().mapToLong(Run::count).sum()).isEqualTo(50_000);
        Run last = read.runs().get(read.runs().size() - 1);
        assertThat(last.firstBlock() + Run.blockCount(last.count() * 4))
            .isEqualTo(read.blockChecksums().length);
      } catch (ZRecordException expected) {
        assertThat(expected.resource()).isEqualTo("/d/x.runs");
      } catch (RuntimeException | AssertionError e) {
        throw new AssertionError("seed " + seed + ", round " + round, e);
      }
    }
  }
}
