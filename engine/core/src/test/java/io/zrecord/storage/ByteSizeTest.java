package io.zrecord.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class ByteSizeTest {
  @Test
  void aNumberHasAUnitOrNone() {
    assertThat(ByteSize.parse("0")).isZero();
    assertThat(ByteSize.parse("9223372036854775807")).isEqualTo(Long.MAX_VALUE);
    assertThat(ByteSize.parse("5k")).isEqualTo(5L << 10);
    assertThat(ByteSize.parse("64M")).isEqualTo(64L << 20);
    assertThat(ByteSize.parse("200g")).isEqualTo(200L << 30);
    assertThat(ByteSize.parse("3T")).isEqualTo(3L << 40);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "much", "-1", "1.5g", "1 g", " 1", "1gb", "k"})
  void whatIsNoNumberIsRefused(String text) {
    assertThatThrownBy(() -> ByteSize.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + text + "' is no number of bytes");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"9223372036854775808", "8388608t", "9999999999999g", "99999999999999999999"})
  void whatIsTooManyIsRefused(String text) {
    assertThatThrownBy(() -> ByteSize.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + text + "' is 2^63 bytes or more");
  }
}
