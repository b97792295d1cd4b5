package io.zrecord.spark.write;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.SortKey;
import io.zrecord.spark.options.WriteConf;
import io.zrecord.spark.options.WriteDistribution;
import io.zrecord.spark.options.ZRecordOptions;
import io.zrecord.spark.partition.PartitionColumns;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.spark.sql.connector.distributions.Distribution;
import org.apache.spark.sql.connector.distributions.Distributions;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.NullOrdering;
import org.apache.spark.sql.connector.expressions.SortDirection;
import org.apache.spark.sql.connector.expressions.SortOrder;
import org.apache.spark.sql.types.StructType;

/**
 * Where the rows of a write meet, and in which order tasks write them: by the partition columns,
 * then as the write or the table says. Immutable.
 *
 * @param distribution where rows meet
 * @param partitions the columns of the rows that have the partition fields
 * @param keys the columns of the rows by which the records of a partition are sorted
 */
record RowOrder(WriteDistribution distribution, List<String> partitions, List<SortKey> keys) {
  /**
   * Plans the order of a write.
   *
   * @param table the fields of the table after the write
   * @param written the field of each column, and those that no column has
   * @param ordinals the places of the partition fields among these
   * @throws SchemaMismatchException if the table has no column by which it is to be sorted, or
   *     nothing by which it is to be divided
   */
  static RowOrder of(
      String location,
      WriteConf conf,
      RecordSchema table,
      List<FieldSpec> written,
      List<Integer> ordinals,
      StructType columns,
      boolean isCaseSensitive) {
    List<SortKey> order = conf.order();
    if (conf.isDefault(ZRecordOptions.ORDER)) {
      // The session means other tables as well.
      order = order.stream()
          .filter(key -> find(table, key.column(), isCaseSensitive).isPresent())
          .toList();
    }
    List<SortKey> keys = order.stream()
        .flatMap(key -> column(
            find(table, key.column(), isCaseSensitive)
                .orElseThrow(() -> noSuchColumn(location, key.column(), table)),
            written,
            columns)
            .map(key::of)
            .stream())
        .toList();
    boolean isDivisible = !ordinals.isEmpty() || !order.isEmpty();
    List<String> partitions = ordinals.stream()
        .filter(ordinal -> ordinal < columns.length())
        .map(ordinal -> columns.apply(ordinal).name())
        .toList();
    WriteDistribution distribution = conf.distribution()
        .filter(said -> isDivisible || !conf.isDefault(ZRecordOptions.DISTRIBUTION))
        .orElse(
            ordinals.isEmpty() && !order.isEmpty() && !conf.isOfEpochs()
                ? WriteDistribution.RANGE
                : WriteDistribution.PARTITION);
    if (distribution == WriteDistribution.RANGE && !isDivisible) {
      throw new SchemaMismatchException(
          location,
          "Cannot write to " + location + " with the option or the property "
              + ZRecordOptions.DISTRIBUTION + "=range: the table has neither partitions nor an"
              + " order by which rows could be divided; give " + ZRecordOptions.ORDER
              + " as well, or leave the distribution out");
    }
    return new RowOrder(distribution, partitions, keys);
  }

  /** Returns the column that has a field; empty if each record gets the same value, or a number. */
  private static Optional<String> column(
      FieldSpec field, List<FieldSpec> written, StructType columns) {
    return IntStream.range(0, Math.min(columns.length(), written.size()))
        .filter(i -> written.get(i).id() == field.id())
        .mapToObj(i -> columns.apply(i).name())
        .findFirst();
  }

  private static Optional<FieldSpec> find(
      RecordSchema table, String name, boolean isCaseSensitive) {
    Optional<FieldSpec> exact = table.find(name);
    return exact.isPresent() || isCaseSensitive
        ? exact
        : table.fields().stream()
            .filter(field -> field.name().equalsIgnoreCase(name))
            .findFirst();
  }

  private static SchemaMismatchException noSuchColumn(
      String location, String name, RecordSchema table) {
    return new SchemaMismatchException(
        location,
        "Cannot write to " + location + " in the order of the column '" + name
            + "', as the option or the property " + ZRecordOptions.ORDER
            + " says: the columns are "
            + table.fields().stream().map(FieldSpec::name).toList()
            + "; name one of them, or unset the property");
  }

  /** Returns where Spark is to bring the rows. */
  Distribution required() {
    return switch (distribution) {
      case NONE -> Distributions.unspecified();
      case RANGE ->
        ordering().length == 0 ? Distributions.unspecified() : Distributions.ordered(ordering());
      case PARTITION ->
        partitions.isEmpty()
            ? Distributions.unspecified()
            : Distributions.clustered(
                partitions.stream().map(RowOrder::reference).toArray(NamedReference[]::new));
    };
  }

  /** Tells whether the rows of a task must not be divided further, which would break the order. */
  boolean isStrict() {
    return distribution == WriteDistribution.RANGE;
  }

  /** Returns the order in which a task is to have its rows; empty if in that of the query. */
  SortOrder[] ordering() {
    if (distribution == WriteDistribution.NONE && keys.isEmpty()) {
      return new SortOrder[0];
    }
    return Stream.concat(
            partitions.stream()
                .map(column -> Expressions.sort(reference(column), SortDirection.ASCENDING)),
            keys.stream()
                .map(key -> Expressions.sort(
                    reference(key.column()),
                    key.isDescending() ? SortDirection.DESCENDING : SortDirection.ASCENDING,
                    key.isNullFirst() ? NullOrdering.NULLS_FIRST : NullOrdering.NULLS_LAST)))
        .toArray(SortOrder[]::new);
  }

  private static NamedReference reference(String column) {
    return Expressions.column(PartitionColumns.quoted(column));
  }

  /** Tells whether the rows of each task come partition by partition. */
  boolean isByPartitions() {
    return distribution != WriteDistribution.NONE || !keys.isEmpty();
  }
}
