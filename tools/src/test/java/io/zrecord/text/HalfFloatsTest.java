package io.zrecord.text;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class HalfFloatsTest {
  @Test
  void everyNumberOf16BitsComesBack() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      float f16 = HalfFloats.ofF16((short) bits);
      float bf16 = HalfFloats.ofBf16((short) bits);
      if (!Float.isNaN(f16)) {
        assertThat(HalfFloats.toF16(f16)).isEqualTo((short) bits);
      }
      if (!Float.isNaN(bf16)) {
        assertThat(HalfFloats.toBf16(bf16)).isEqualTo((short) bits);
      }
    }
    assertThat(HalfFloats.ofF16(HalfFloats.toF16(Float.NaN))).isNaN();
    assertThat(HalfFloats.ofBf16(HalfFloats.toBf16(Float.NaN))).isNaN();
    assertThat(HalfFloats.ofF16((short) 0x3c00)).isEqualTo(1f);
    assertThat(HalfFloats.ofBf16((short) 0x4049)).isEqualTo(3.140625f);
  }

  @Test
  void whatLiesBetweenGoesToTheNearestAndOfTwoToTheEvenOne() {
    for (int bits = 0; bits < 0x7bff; bits++) {
      float low = HalfFloats.ofF16((short) bits);
      float high = HalfFloats.ofF16((short) (bits + 1));
      float middle = (low + high) / 2;
      int even = bits % 2 == 0 ? bits : bits + 1;
      assertThat(HalfFloats.toF16(middle)).isEqualTo((short) even);
      assertThat(HalfFloats.toF16(Math.nextDown(middle))).isEqualTo((short) bits);
      assertThat(HalfFloats.toF16(-Math.nextUp(middle))).isEqualTo((short) (bits + 1 | 0x8000));
    }
    assertThat(HalfFloats.toF16(65519.99f)).isEqualTo((short) 0x7bff);
    assertThat(HalfFloats.toF16(65520f)).isEqualTo((short) 0x7c00);
    assertThat(HalfFloats.toF16(Float.MAX_VALUE)).isEqualTo((short) 0x7c00);
  }
}
