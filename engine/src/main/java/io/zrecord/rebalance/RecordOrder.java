package io.zrecord.rebalance;

import io.zrecord.RecordDataset;
import io.zrecord.sampler.Samplers;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.io.Serializable;

/** An order in which the records of a version can be written. Immutable. */
public sealed interface RecordOrder extends Serializable {

  /**
   * Random: the record at index <i>p</i> is the one that {@code Samplers.shuffle(length, seed)} has at position <i>p</i> of epoch 0. Takes no
   * memory, whatever the number of records.
   */
  static RecordOrder shuffle(long seed) {
    return new Shuffle(seed);
  }

  /**
   * By the values of a field; records with equal values keep their order. Numbers, dates, times and decimals are compared as such, {@code false}
   * comes before {@code true}, bytes and texts are compared by their bytes without sign, which for texts is the order of code points. NaN and
   * then absent values come last in both directions; −0 equals 0.
   *
   * <p>Takes 16 bytes of heap for each record while it is found, 8 bytes afterwards; a text of n bytes at most is read n ÷ 8 times. Records are at
   * most 2³¹ − 9, a value of bytes or text has at most 1,024 bytes.
   *
   * @param field of one element a record, or of bytes or text
   */
  static RecordOrder by(String field, Direction direction) {
    return new ByField(field, direction);
  }

  /**
   * Checks that records with these fields have the order.
   *
   * @throws IllegalArgumentException if there is no such field, or its values have no order
   */
  void requireFits(RecordSchema schema);

  /**
   * Finds the order of the records of a dataset.
   *
   * @throws IllegalArgumentException if there is no such field, or its values have no order, or there are too many for the heap
   */
  Arrangement arrange(RecordDataset dataset);

  /** See {@link #shuffle}. */
  record Shuffle(long seed) implements RecordOrder {
    @Override
    public void requireFits(RecordSchema schema) {}

    @Override
    public Arrangement arrange(RecordDataset dataset) {
      return new ShuffledArrangement(Samplers.shuffle(dataset.length(), seed));
    }

    @Override
    public String toString() {
      return "shuffle, seed " + seed;
    }
  }

  /** See {@link #by}. */
  record ByField(String field, Direction direction) implements RecordOrder {
    @Override
    public void requireFits(RecordSchema schema) {
      FieldSpec spec = schema.fields().get(schema.ordinal(field));
      if (!spec.shape().isScalar()) {
        throw new IllegalArgumentException("Cannot order records by field '" + field + "' of shape "
            + spec.shape()
            + ": tensors have no order; choose a field of single elements, of bytes or of text");
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
