package io.zrecord;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.ShardWriter;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Appends records, one after the other: set the fields, end the record. A field that was not set is absent. Belongs to one thread;
 * taken from a {@link RecordDatasetWriter}, which finishes and closes it.
 */
public final class RecordAppender {
  private final ShardWriter shard;
  private final RecordSchema schema;
  private final Map<String, Integer> ordinals = new HashMap<>();
  private @Nullable ShardSummary finished;

  RecordAppender(ShardWriter shard, RecordSchema schema) {
    this.shard = shard;
    this.schema = schema;
    for (int i = 0; i < schema.fields().size(); i++) {
      ordinals.put(schema.fields().get(i).name(), i);
    }
  }

  /**
   * Sets a field from a Java value:
   *
   * <ul>
   *   <li>a single boolean or number from {@link Boolean} or {@link Number}, which must be exactly representable
   *       in an integer type
   *   <li>{@code utf8} from {@link String}
   *   <li>any field from {@code byte[]}, the little-endian bytes of the value
   *   <li>a tensor from {@code short[]}, {@code int[]}, {@code long[]}, {@code float[]} or {@code double[]} of elements as wide
   * </ul>
   *
   * @throws IllegalArgumentException if there is no such field, or the value does not fit it
   */
  public RecordAppender set(String field, Object value) {
    Integer ordinal = ordinals.get(field);
    if (ordinal == null) {
      throw new IllegalArgumentException("There is no field '" + field + "'; the fields are "
          + String.join(", ", schema.fields().stream().map(FieldSpec::name).toList()));
    }
    FieldSpec spec = schema.fields().get(ordinal);
    if (value instanceof byte[] bytes) {
      setBytes(ordinal, bytes);
    } else if (value instanceof String text && spec.type().equals(ElementType.UTF8)) {
      setBytes(ordinal, text.getBytes(StandardCharsets.UTF_8));
    } else if (value instanceof Boolean flag
        && spec.type().equals(ElementType.BOOL)
        && spec.shape().isScalar()) {
      shard.putByte(ordinal, (byte) (flag ? 1 : 0));
    } else if (value instanceof Number number && spec.shape().isScalar()) {
      setNumber(ordinal, spec, number);
    } else {
      setBytes(ordinal, TensorBytes.of(spec, value));
    }
    return this;
  }

  private void setBytes(int ordinal, byte[] bytes) {
    shard.put(ordinal, bytes, 0, bytes.length);
  }

  private void setNumber(int ordinal, FieldSpec field, Number number) {
    switch (field.type().kind()) {
      case F32 -> shard.putFloat(ordinal, number.floatValue());
      case F64 -> shard.putDouble(ordinal, number.doubleValue());
      case I8 ->
        shard.putByte(ordinal, (byte) integer(field, number, Byte.MIN_VALUE, Byte.MAX_VALUE));
      case U8 -> shard.putByte(ordinal, (byte) integer(field, number, 0, 0xff));
      case I16 ->
        shard.putShort(ordinal, (short) integer(field, number, Short.MIN_VALUE, Short.MAX_VALUE));
      case U16 -> shard.putShort(ordinal, (short) integer(field, number, 0, 0xffff));
      case I32, DATE ->
        shard.putInt(ordinal, (int) integer(field, number, Integer.MIN_VALUE, Integer.MAX_VALUE));
      case U32 -> shard.putInt(ordinal, (int) integer(field, number, 0, 0xffff_ffffL));
      case I64, TIMESTAMP, TIMESTAMP_NTZ ->
        shard.putLong(ordinal, integer(field, number, Long.MIN_VALUE, Long.MAX_VALUE));
      case U64 -> shard.putLong(ordinal, integer(field, number, 0, Long.MAX_VALUE));
      default -> throw TensorBytes.doesNotFit(field, number);
    }
  }

  private static long integer(FieldSpec field, Number number, long lowest, long highest) {
    boolean isInteger = number instanceof Long
        || number instanceof Integer
        || number instanceof Short
        || number instanceof Byte;
    long value = number.longValue();
    if (!isInteger || value < lowest || value > highest) {
      throw TensorBytes.doesNotFit(field, number);
    }
    return value;
  }

  /** Ends the record. */
  public void endRecord() {
    shard.endRecord();
  }

  /** Records ended so far. */
  public long recordCount() {
    return shard.recordCount();
  }

  /** The writer below, by ordinals and without boxing, for inner loops. Its owner finishes it. */
  public ShardWriter shard() {
    return shard;
  }

  Optional<ShardSummary> finish() {
    Optional<ShardSummary> summary = shard.finish();
    finished = summary.orElse(null);
    return summary;
  }

  /** The shard, once it was finished and had a record. */
  Optional<ShardSummary> finished() {
    return Optional.ofNullable(finished);
  }

  void close() {
    shard.close();
  }
}
