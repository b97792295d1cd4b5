package io.zrecord.spark.column;

import java.math.BigInteger;
import java.util.Arrays;
import org.apache.spark.sql.types.Decimal;

/** Writes decimals as fields have them: unscaled, in two's complement, little-endian. Stateless. */
public final class DecimalBytes {
  private DecimalBytes() {}

  /**
   * Writes the unscaled value of a decimal.
   *
   * @param value filled whole; wide enough for the decimal
   */
  public static void write(Decimal decimal, byte[] value) {
    BigInteger unscaled = decimal.toJavaBigDecimal().unscaledValue();
    byte[] bigEndian = unscaled.toByteArray();
    Arrays.fill(value, (byte) (unscaled.signum() < 0 ? -1 : 0));
    for (int b = 0; b < bigEndian.length; b++) {
      value[b] = bigEndian[bigEndian.length - 1 - b];
    }
  }
}
