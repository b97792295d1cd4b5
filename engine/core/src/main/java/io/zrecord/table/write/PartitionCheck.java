package io.zrecord.table.write;

import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requires that the records of a shard are of its partition. Belongs to one thread. */
final class PartitionCheck {
  private final RecordSchema schema;
  private final List<@Nullable String> texts;

  /** The value of each field that is present, by ordinal. */
  private final Map<Integer, byte[]> values = new HashMap<>();

  private final boolean[] isPartition;

  /**
   * Prepares the check.
   *
   * @param fieldIds the partition fields
   * @param texts value of each of them; null for an absent value
   */
  PartitionCheck(RecordSchema schema, List<Integer> fieldIds, List<@Nullable String> texts) {
    if (fieldIds.size() != texts.size()) {
      throw new IllegalArgumentException(
          "A partition of " + fieldIds.size() + " fields has as many values, not " + texts.size());
    }
    this.schema = schema;
    this.texts = new ArrayList<>(texts);
    this.isPartition = new boolean[schema.fields().size()];
    for (int i = 0; i < fieldIds.size(); i++) {
      int ordinal = ordinalOf(schema, fieldIds.get(i));
      isPartition[ordinal] = true;
      String text = texts.get(i);
      if (text != null) {
        values.put(ordinal, PartitionText.parse(schema.fields().get(ordinal), text));
      }
    }
  }

  private static int ordinalOf(RecordSchema schema, int fieldId) {
    for (int ordinal = 0; ordinal < schema.fields().size(); ordinal++) {
      if (schema.fields().get(ordinal).id() == fieldId) {
        return ordinal;
      }
    }
    throw new IllegalArgumentException(
        "Partition field " + fieldId + " is not written; the schema has " + schema);
  }

  List<@Nullable String> texts() {
    return texts;
  }

  /** Tells whether a field is a partition field. */
  boolean has(int field) {
    return isPartition[field];
  }

  /** Requires that a value of a field, as the bits of a number, is that of the partition. */
  void require(int field, long bits, int lengthBytes) {
    byte[] value = new byte[lengthBytes];
    for (int i = 0; i < lengthBytes; i++) {
      value[i] = (byte) (bits >>> (8 * i));
    }
    require(field, value, 0, lengthBytes);
  }

  void require(int field, byte[] source, int offset, int lengthBytes) {
    byte[] expected = values.get(field);
    if (expected == null
        || !Arrays.equals(expected, 0, expected.length, source, offset, offset + lengthBytes)) {
      throw refused(field, "a value that is another one");
    }
  }

  /** Requires that an absent value is that of the partition. */
  void requireAbsent(int field) {
    if (values.containsKey(field)) {
      throw refused(field, "an absent value");
    }
  }

  private IllegalArgumentException refused(int field, String found) {
    FieldSpec spec = schema.fields().get(field);
    byte[] expected = values.get(field);
    return new IllegalArgumentException("Cannot write " + found + " to partition field '"
        + spec.name() + "': all values of the shard are "
        + (expected == null ? "absent" : "'" + PartitionText.of(spec, expected) + "'")
        + "; write the record to a shard of its own partition");
  }
}
