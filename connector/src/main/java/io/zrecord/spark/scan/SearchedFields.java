package io.zrecord.spark.scan;

import java.io.Serializable;
import java.util.List;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.apache.spark.sql.types.StructType;

/**
 * The fields whose values tasks look at before they read the other columns, so that nothing is read
 * of records that do not meet the conditions. Immutable.
 *
 * @param names names of the fields; none if nothing is gained
 * @param areOthersWide whether the other columns are wide, so that each record counts that is not
 *     read. Narrow values are read faster in ranges than one by one
 */
record SearchedFields(Set<String> names, boolean areOthersWide) implements Serializable {
  static final SearchedFields NONE = new SearchedFields(Set.of(), false);

  /** Bytes of the other columns of a record from which on each record that is not read counts. */
  private static final long WIDE_BYTES = 256;

  private static final double WORTHWHILE_IF_WIDE = 0.75;
  private static final double WORTHWHILE_IF_NARROW = 0.125;

  SearchedFields {
    names = Set.copyOf(names);
  }

  /**
   * Chooses the fields of conditions that have at most as many bytes as the other columns.
   *
   * @param columns the columns of the scan
   * @param rows number of records of the scan
   * @param bytes returns the stored bytes of some columns in these records
   */
  static SearchedFields of(
      List<ValueCondition> conditions,
      StructType columns,
      long rows,
      ToLongFunction<StructType> bytes) {
    Set<String> fields =
        conditions.stream().flatMap(ValueCondition::fields).collect(Collectors.toSet());
    if (fields.isEmpty() || rows == 0) {
      return NONE;
    }
    long all = bytes.applyAsLong(columns);
    Set<String> chosen = fields.stream()
        .filter(name -> columns.getFieldIndex(name).isDefined())
        .filter(name -> {
          long own = bytes.applyAsLong(new StructType().add(columns.apply(name)));
          return own <= all - own;
        })
        .collect(Collectors.toSet());
    long others = all
        - chosen.stream()
            .mapToLong(name -> bytes.applyAsLong(new StructType().add(columns.apply(name))))
            .sum();
    return new SearchedFields(chosen, others / rows >= WIDE_BYTES);
  }

  /** Returns the greatest part of the records that may be left for the others to be passed over. */
  double worthwhile() {
    return areOthersWide ? WORTHWHILE_IF_WIDE : WORTHWHILE_IF_NARROW;
  }
}
