package io.zrecord.serving;

import io.zrecord.schema.FieldSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;

/**
 * Some records, field by field, as the other process has laid them out in the shared memory:
 *
 * <pre>
 * count i64, then of each field four i64:
 *   position of the values | their bytes
 *   | position of count + 1 offsets (i64), or -1 if all values have the width of the field
 *   | position of count bits, the lowest of a byte first, 1 for present, or -1 if all are present
 * </pre>
 *
 * Everything is little-endian. The memory of a batch is used again for the next one.
 */
final class ColumnBatch {
  private static final int PLACE_BYTES = 4 * Long.BYTES;

  private final List<Column> columns;
  private int count;

  ColumnBatch(List<FieldSpec> fields) {
    this.columns = fields.stream().map(Column::new).toList();
  }

  /**
   * Reads the next batch.
   *
   * @throws IllegalArgumentException if it is not laid out as above
   */
  void read(SharedInput memory, byte[] carried) {
    if (carried.length != Long.BYTES + columns.size() * PLACE_BYTES) {
      throw new IllegalArgumentException("A batch of " + columns.size() + " fields is described by "
          + carried.length + " bytes, not by " + (Long.BYTES + columns.size() * PLACE_BYTES));
    }
    ByteBuffer places = ByteBuffer.wrap(carried).order(ByteOrder.LITTLE_ENDIAN);
    long records = places.getLong();
    if (records < 1 || records > Integer.MAX_VALUE / Long.BYTES - 1) {
      throw new IllegalArgumentException("A batch has " + records + " records; it has 1 to "
          + (Integer.MAX_VALUE / Long.BYTES - 1));
    }
    count = (int) records;
    for (Column column : columns) {
      column.read(memory, count, places);
    }
  }

  int count() {
    return count;
  }

  /** Returns the columns, in the order of the fields. */
  List<Column> columns() {
    return columns;
  }
}
