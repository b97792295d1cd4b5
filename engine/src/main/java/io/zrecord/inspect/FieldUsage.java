package io.zrecord.inspect;

import io.zrecord.schema.FieldSpec;
import java.io.Serializable;

/**
 * What a field takes, in one shard or in all.
 *
 * @param field the field, as the dataset's version has it
 * @param recordCount records
 * @param absentCount those of them in which it is absent
 * @param liveBytes stored bytes of its values; slots of absent values among dense ones included
 * @param paddingBytes bytes behind its values up to the next multiple of 8
 * @param valueSizes stored sizes of its values
 * @param fragmentation how its values stand to each other
 */
public record FieldUsage(
    FieldSpec field,
    long recordCount,
    long absentCount,
    long liveBytes,
    long paddingBytes,
    SizeHistogram valueSizes,
    Fragmentation fragmentation)
    implements Serializable {

  /**
   * Of both together, which are of the same field.
   *
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  public FieldUsage plus(FieldUsage other) {
    return new FieldUsage(
        field,
        Math.addExact(recordCount, other.recordCount),
        Math.addExact(absentCount, other.absentCount),
        Math.addExact(liveBytes, other.liveBytes),
        Math.addExact(paddingBytes, other.paddingBytes),
        valueSizes.plus(other.valueSizes),
        fragmentation.plus(other.fragmentation));
  }
}
