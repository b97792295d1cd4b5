package io.zrecord.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class WriteOptionsTest {
  @Test
  void everyPowerOfTwoFrom8To1MiBIsAnAlignment() {
    for (long bytes = 8; bytes <= 1 << 20; bytes *= 2) {
      assertThat(WriteOptions.defaults().withAlignBytes(bytes).alignBytes()).isEqualTo(bytes);
    }
    assertThat(WriteOptions.defaults().alignBytes()).isEqualTo(8);
  }

  @ParameterizedTest
  @ValueSource(longs = {Long.MIN_VALUE, -8, 0, 1, 4, 12, 4095, 2 << 20, (1L << 32) + 8, 1L << 62})
  void whatIsNoAlignmentIsRefused(long bytes) {
    assertThatThrownBy(() -> WriteOptions.defaults().withAlignBytes(bytes))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("Option alignBytes is " + bytes
            + "; it must be a power of two from 8 to 1048576, such as 64 or 4096");
  }

  @Test
  void anOptionChangesNothingElse() {
    WriteOptions options = WriteOptions.defaults()
        .withAlignBytes(64)
        .withChunkBytes(1 << 20)
        .withStripeBytes(1 << 21)
        .withBlockBytes(1 << 16)
        .withTransform(Transform.DELTA)
        .withChecksum(Checksum.NONE)
        .withDurability(Durability.NONE);
    assertThat(options)
        .isEqualTo(new WriteOptions(
            1 << 20, 1 << 21, 64, 1 << 16, Transform.DELTA, Checksum.NONE, Durability.NONE));
    assertThat(options.withAlignBytes(4096).withAlignBytes(64)).isEqualTo(options);
  }
}
