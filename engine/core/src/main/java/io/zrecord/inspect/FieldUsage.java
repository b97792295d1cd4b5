package io.zrecord.inspect;

import io.zrecord.schema.FieldSpec;
import java.io.Serializable;

/**
 * The space that a field takes, in one shard or in all.
 *
 * @param field the field, as the dataset's version has it
 * @param recordCount number of records
 * @param absentCount number of records in which the field is absent
 * @param liveBytes stored bytes of the field's values, including slots of absent values among dense
 *     values
 * @param paddingBytes bytes after the field's values up to the next multiple of 8
 * @param valueSizes stored sizes of the field's values
 * @param fragmentation how the field's values lie relative to each other
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
   * Returns the sum of this usage and another usage of the same field.
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
