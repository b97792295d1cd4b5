package io.zrecord.internal.values;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.ElementType;
import java.util.HexFormat;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Values of wider types, little-endian in hexadecimal digits, as those of narrower types. */
final class NarrowedValuesTest {
  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  private static byte[] narrowed(String wide, String narrow, String value) {
    return NarrowedValues.convert(bytes(value), ElementType.parse(wide), ElementType.parse(narrow));
  }

  @ParameterizedTest
  @CsvSource(delimiter = ' ', textBlock = """
          i16 i8 80ff 80
          i16 i8 7f00ffff 7fff
          i64 i8 80ffffffffffffff 80
          i32 i16 ff7f0000 ff7f
          i64 i32 00000080ffffffff 00000080
          u16 u8 ff00 ff
          u64 u8 ff00000000000000 ff
          u32 u16 ffff0000 ffff
          u64 u32 ffffffff00000000 ffffffff
          f64 f32 000000000000f83f 0000c03f
          f64 f32 0000000000000080 00000080
          timestamp_ntz date 00a028e2ebffffff ffffffff
          timestamp_ntz date 0000000000000000 00000000
          decimal(9,2) decimal(5,2) 9f860100 9f860100
          decimal(12,1) decimal(3,1) 19fcffffffffffff 19fcffff
          """)
  void valuesThatFitKeepTheirValue(String wide, String narrow, String value, String expected) {
    assertThat(narrowed(wide, narrow, value)).isEqualTo(bytes(expected));
  }

  @ParameterizedTest
  @CsvSource(delimiter = ' ', textBlock = """
          i16 i8 8000 128
          i16 i8 7f007fff -129
          i64 i8 0000000000000080 -9223372036854775808
          i64 i32 0000008000000000 2147483648
          u16 u8 0001 256
          u64 u32 ffffffffffffffff 18446744073709551615
          f64 f32 9a9999999999f13f 1.1
          timestamp_ntz date ffffffffffffffff 1969-12-31T23:59:59.999999
          decimal(9,2) decimal(5,2) a0860100 1000.00
          decimal(9,2) decimal(5,2) 6079feff -1000.00
          bytes utf8 ff41 0xff41
          """)
  void aValueThatDoesNotFitIsNamed(String wide, String narrow, String value, String text) {
    assertThatThrownBy(() -> narrowed(wide, narrow, value))
        .isInstanceOf(ArithmeticException.class)
        .hasMessage(text);
  }
}
