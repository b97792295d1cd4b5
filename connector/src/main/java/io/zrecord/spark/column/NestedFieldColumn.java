package io.zrecord.spark.column;

import io.zrecord.nested.NestedColumn;
import io.zrecord.nested.NestedView;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.NestedType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;

/**
 * The column of a nested field. The buffers of a batch's values are appended to each other, a
 * buffer at a time: the vectors stay valid in any order of access.
 */
final class NestedFieldColumn extends FieldColumn {
  private final NestedColumn values;
  private final NestedView view;
  private final NestedVector vector;

  NestedFieldColumn(DataType type, NestedType tree) {
    super(type);
    values = new NestedColumn(tree);
    view = new NestedView(tree);
    vector = new NestedVector(type, values);
  }

  @Override
  void loadValues(FieldReader source) {
    values.clear();
    String resource = "field '" + source.field().name() + "'";
    for (int i = 0; i < source.count(); i++) {
      if (source.isAbsent(i)) {
        values.putAbsent();
      } else {
        values.appendAll(view.read(resource, source.view(i)));
      }
    }
    vector.load();
  }

  @Override
  public ColumnarArray getArray(int row) {
    return vector.getArray(row);
  }

  @Override
  public ColumnarMap getMap(int row) {
    return vector.getMap(row);
  }

  @Override
  public ColumnVector getChild(int ordinal) {
    return vector.getChild(ordinal);
  }
}
