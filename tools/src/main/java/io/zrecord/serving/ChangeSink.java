package io.zrecord.serving;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes the records that the first column of each batch names by their indices: gives them the
 * values of the other columns, or deletes them if there is no other.
 */
final class ChangeSink implements Sink {
  private final RowChange change;
  private final List<FieldSpec> fields = new ArrayList<>();

  /**
   * Begins.
   *
   * @param base the version that the indices are of
   * @param changed fields that get values; empty to delete records
   */
  ChangeSink(TableSnapshot base, RecordSchema changed) {
    base.requireWritable();
    this.change = RowChange.of(base);
    // No field of a table has the id that is the greatest of all.
    fields.add(new FieldSpec(
        Integer.MAX_VALUE, "the index", ElementType.I64, Shape.scalar(), Compression.RAW));
    for (FieldSpec field : changed.fields()) {
      FieldSpec present = base.schema().fields().get(base.schema().ordinal(field.name()));
      if (!present.type().equals(field.type()) || !present.shape().equals(field.shape())) {
        throw new IllegalArgumentException("Field '" + field.name() + "' is " + present.type()
            + present.shape() + " in the table, not " + field.type() + field.shape());
      }
      fields.add(present);
    }
  }

  @Override
  public List<FieldSpec> fields() {
    return fields;
  }

  @Override
  public void put(ColumnBatch batch) {
    List<Column> columns = batch.columns();
    for (int record = 0; record < batch.count(); record++) {
      long index = columns.get(0).longAt(record);
      if (columns.size() == 1) {
        change.delete(index);
      }
      for (int field = 1; field < columns.size(); field++) {
        Column column = columns.get(field);
        change.update(
            index, fields.get(field).name(), column.isAbsent(record) ? null : column.copy(record));
      }
    }
  }

  @Override
  public TableSnapshot commit() {
    return change.commit();
  }

  @Override
  public void close() {
    // New values are in memory until the commit, which removes what it has written if it fails.
  }
}
