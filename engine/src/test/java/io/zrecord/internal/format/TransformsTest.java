package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TransformsTest {
  private final long seed = Budget.seed();

  /** Random bytes, with others around them that must stay as they are. */
  private byte[] random(int length) {
    byte[] bytes = new byte[length];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16})
  void transposedBytesAreWhereTheFormatSays(int width) {
    for (int count = 0; count < 70; count++) {
      byte[] source = random(5 + count * width + 9);
      byte[] target = new byte[3 + count * width + 9];
      Transforms.transpose(width, source, 5, count * width, target, 3);
      byte[] expected = new byte[target.length];
      for (int i = 0; i < count; i++) {
        for (int k = 0; k < width; k++) {
          expected[3 + k * count + i] = source[5 + i * width + k];
        }
      }
      assertThat(target).as("seed %s, %s elements", seed, count).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8, 16})
  void restoringReversesTransposing(int width) {
    for (int count = 0; count < 70; count++) {
      byte[] source = random(count * width);
      byte[] transposed = new byte[7 + count * width];
      byte[] restored = new byte[1 + count * width + 2];
      Transforms.transpose(width, source, 0, source.length, transposed, 7);
      Transforms.restore(width, transposed, 7, source.length, restored, 1);
      assertThat(Arrays.copyOfRange(restored, 1, 1 + source.length))
          .as("seed %s, %s elements", seed, count)
          .isEqualTo(source);
      assertThat(restored[0]).isZero();
      assertThat(restored[restored.length - 1]).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 8})
  void sumsReverseDifferences(int width) {
    for (int count : new int[] {0, 1, 2, 7, 8, 9, 1000}) {
      byte[] source = random(3 + count * width);
      byte[] other = new byte[11 + count * width];
      Transforms.differences(width, source, 3, count * width, other, 11);
      Transforms.sums(width, other, 11, count * width);
      assertThat(Arrays.copyOfRange(other, 11, other.length))
          .as("seed %s, %s elements", seed, count)
          .isEqualTo(Arrays.copyOfRange(source, 3, source.length));
    }
  }

  @Test
  void differencesWrapAround() {
    ByteBuffer source = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
    source.putLong(Long.MAX_VALUE).putLong(Long.MIN_VALUE).putLong(-1);
    ByteBuffer target = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
    Transforms.differences(8, source.array(), 0, 24, target.array(), 0);
    assertThat(target.getLong(0)).isEqualTo(Long.MAX_VALUE);
    assertThat(target.getLong(8)).isEqualTo(1);
    assertThat(target.getLong(16)).isEqualTo(Long.MAX_VALUE);
    Transforms.differences(4, source.array(), 0, 24, target.array(), 0);
    assertThat(target.getInt(0)).isEqualTo(-1);
    assertThat(target.getInt(4)).isEqualTo(Integer.MIN_VALUE);
    Transforms.differences(2, source.array(), 0, 24, target.array(), 0);
    assertThat(target.getShort(0)).isEqualTo((short) -1);
    assertThat(target.getShort(6)).isEqualTo(Short.MIN_VALUE);
  }

  @Test
  void neighboursAreTransposedNumberByNumber() {
    byte[] numbers = {1, 2, 3, 4, 5, 6, 7, 8};
    byte[] target = new byte[8];
    Transforms.transpose(2, numbers, 0, 8, target, 0);
    assertThat(target).containsExactly(1, 3, 5, 7, 2, 4, 6, 8);
    Transforms.transpose(4, numbers, 0, 8, target, 0);
    assertThat(target).containsExactly(1, 5, 2, 6, 3, 7, 4, 8);
  }
}
