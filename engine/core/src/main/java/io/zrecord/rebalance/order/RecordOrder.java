package io.zrecord.rebalance.order;

import io.zrecord.RecordDataset;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.io.Serializable;

/** An order in which the records of a version can be written. Immutable. */
public sealed interface RecordOrder extends Serializable {

  /**
   * Returns a random order: the record at index <i>p</i> is the record that
   * {@code Samplers.shuffle(length, seed)} has at position <i>p</i> of epoch 0. Takes no memory,
   * whatever the number of records.
   */
  static RecordOrder shuffle(long seed) {
    return new Shuffle(seed);
  }

  /**
   * Returns the order by the values of a field. Records with equal values keep their order.
   * Numbers, dates, times and decimals are compared as such, and {@code false} comes before
   * {@code true}. Bytes and texts are compared by their bytes without sign, which for texts is the
   * order of code points. NaN and then absent values come last in both directions; −0 equals 0.
   *
   * <p>Takes 16 bytes of heap for each record while the order is being found, and 8 bytes
   * afterwards. A text of at most n bytes is read n ÷ 8 times. There are at most 2³¹ − 9 records,
   * and a value of bytes or text has at most 1,024 bytes.
   *
   * @param field a field of one element a record, or of bytes or text
   */
  static RecordOrder by(String field, Direction direction) {
    return new ByField(field, direction);
  }

  /**
   * Checks that this order fits records with the given fields.
   *
   * @throws IllegalArgumentException if there is no such field, or its values have no order
   */
  void requireFits(RecordSchema schema);

  /**
   * Finds the order of the records of a dataset.
   *
   * @throws IllegalArgumentException if there is no such field, or its values have no order, or
   *     there are too many for the heap
   */
  Arrangement arrange(RecordDataset dataset);

  /** The order of {@link #shuffle}. */
  record Shuffle(long seed) implements RecordOrder {
    @Override
    public void requireFits(RecordSchema schema) {}

    @Override
    public Arrangement arrange(RecordDataset dataset) {
      return ShuffledArrangement.of(dataset.length(), seed);
    }

    @Override
    public String toString() {
      return "shuffle, seed " + seed;
    }
  }

  /** The order of {@link #by}. */
  record ByField(String field, Direction direction) implements RecordOrder {
    @Override
    public void requireFits(RecordSchema schema) {
      FieldSpec spec = schema.fields().get(schema.ordinal(field));
      if (!spec.shape().isScalar()) {
        throw new IllegalArgumentException("Cannot order records by field '" + field + "' of shape "
            + spec.shape()
            + ": tensors have no order; choose a field of single elements, of bytes or of text");
      }
      if (spec.type().tree() != null) {
        throw new IllegalArgumentException(
            "Cannot order records by field '" + field + "' of type "
                + spec.type()
                + ": nested values have no order; choose a field of single elements, of bytes or of text");
      }
    }

    @Override
    public Arrangement arrange(RecordDataset dataset) {
      requireFits(dataset.schema());
      return SortedArrangement.of(dataset, field, direction);
    }

    @Override
    public String toString() {
      return "'" + field + "' " + (direction == Direction.ASCENDING ? "ascending" : "descending");
    }
  }
}
