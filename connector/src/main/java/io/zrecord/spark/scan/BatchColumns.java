package io.zrecord.spark.scan;

import io.zrecord.RecordDataset;
import io.zrecord.changes.ShardFields;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.column.FieldColumn;
import io.zrecord.spark.column.FieldColumns;
import io.zrecord.spark.column.IndexVector;
import io.zrecord.spark.column.MetadataColumns;
import io.zrecord.spark.column.ShardVector;
import io.zrecord.spark.column.SlotVector;
import io.zrecord.spark.column.VersionVector;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * The columns of a batch, which are used again for the next batch, and the number of rows that fit
 * into a batch. Belongs to one task.
 */
final class BatchColumns {
  /** Rows of the first gathered batch. Later batches have as many rows as their size allows. */
  private static final int FIRST_ROWS = 64;

  private static final int GROWTH = 4;

  private final ReadSettings settings;
  private final RecordSchema schema;
  private final List<FieldColumn> fields = new ArrayList<>();
  private final List<String> names = new ArrayList<>();
  private final IndexVector indices = new IndexVector();
  private final IndexVector positions = new IndexVector();
  private final ShardVector shards = new ShardVector();
  private final SlotVector slots = new SlotVector();
  private final VersionVector versions = new VersionVector();
  private final boolean hasSlots;
  private final ColumnarBatch batch;
  private int gatherRows;

  /** Creates the columns of a scan, whose fields are among those of the schema. */
  BatchColumns(ReadSettings settings, RecordSchema schema) {
    this.settings = settings;
    this.schema = schema;
    this.gatherRows = Math.min(FIRST_ROWS, settings.batchRows());
    this.hasSlots = settings.columns().getFieldIndex(MetadataColumns.SLOT).isDefined();
    List<ColumnVector> vectors = new ArrayList<>();
    for (String name : settings.columns().fieldNames()) {
      switch (name) {
        case MetadataColumns.INDEX -> vectors.add(indices);
        case MetadataColumns.POSITION -> vectors.add(positions);
        case MetadataColumns.SHARD -> vectors.add(shards);
        case MetadataColumns.SLOT -> vectors.add(slots);
        case MetadataColumns.VERSION -> vectors.add(versions);
        default -> {
          FieldSpec field = schema.fields().get(schema.ordinal(name));
          FieldColumn column = FieldColumns.of(field);
          fields.add(column);
          names.add(name);
          vectors.add(column.vector());
        }
      }
    }
    this.batch = new ColumnarBatch(vectors.toArray(ColumnVector[]::new));
  }

  /** Reads from this dataset from now on. */
  void open(RecordDataset dataset) {
    if (hasSlots) {
      slots.open(dataset.slots());
    }
    for (int i = 0; i < fields.size(); i++) {
      FieldReader reader = dataset.reader(names.get(i));
      FieldSpec field = schema.fields().get(schema.ordinal(names.get(i)));
      WiderTypes wider = settings.wider();
      fields
          .get(i)
          .open(
              wider == null || reader.field().type().equals(field.type())
                  ? reader
                  : ShardFields.narrowed(
                      field,
                      reader,
                      value -> wider.refusal(field, reader.field().type(), value)));
    }
  }

  /** Returns the names of the fields. */
  List<String> names() {
    return names;
  }

  ColumnarBatch batch() {
    return batch;
  }

  IndexVector indices() {
    return indices;
  }

  IndexVector positions() {
    return positions;
  }

  ShardVector shards() {
    return shards;
  }

  VersionVector versions() {
    return versions;
  }

  /** Returns how many records to gather next. */
  int gatherRows() {
    return gatherRows;
  }

  /** Makes the batch of at most {@code most} records from an index on. Returns how many fit. */
  int loadRange(long first, long most) {
    int rows = (int) Math.min(settings.batchRows(), most);
    // The column with the largest values decides how many rows fit.
    for (FieldColumn column : fields) {
      column.reader().selectRange(first, rows, settings.batchBytes());
      rows = rowsThatFit(column.reader());
    }
    for (FieldColumn column : fields) {
      if (column.reader().count() != rows) {
        column.reader().selectRange(first, rows, Long.MAX_VALUE);
      }
      column.load();
    }
    slots.records().setRange(first);
    batch.setNumRows(rows);
    return rows;
  }

  /** Makes the batch of the first of some records. Returns how many fit. */
  int gather(long[] records, int count) {
    int rows = count;
    for (FieldColumn column : fields) {
      column.reader().select(records, 0, rows);
      rows = rowsThatFit(column.reader());
    }
    for (FieldColumn column : fields) {
      if (column.reader().count() != rows) {
        column.reader().select(records, 0, rows);
      }
      column.load();
    }
    slots.records().setList(0, records);
    gatherRows = nextGatherRows(rows);
    batch.setNumRows(rows);
    return rows;
  }

  /**
   * Returns how many rows will probably fit the next batch. Rows that do not fit were looked up,
   * and verified, in vain.
   */
  private int nextGatherRows(int rows) {
    long bytes = 1;
    for (FieldColumn column : fields) {
      bytes = Math.max(bytes, column.reader().totalLengthBytes());
    }
    long fitting = Math.max(1, (long) (rows * (double) settings.batchBytes() / bytes));
    return (int) Math.min(Math.min(fitting, (long) rows * GROWTH), settings.batchRows());
  }

  /**
   * Returns how many of the selected values fit into the batch's bytes when decompressed; at least
   * one.
   */
  private int rowsThatFit(FieldReader reader) {
    if (reader.totalLengthBytes() <= settings.batchBytes()) {
      return reader.count();
    }
    if (reader.field().valueWidthBytes().isPresent()) {
      return (int)
          Math.max(1, settings.batchBytes() / reader.field().valueWidthBytes().getAsInt());
    }
    long bytes = reader.lengthBytes(0);
    int rows = 1;
    while (rows < reader.count() && (bytes += reader.lengthBytes(rows)) <= settings.batchBytes()) {
      rows++;
    }
    return rows;
  }
}
