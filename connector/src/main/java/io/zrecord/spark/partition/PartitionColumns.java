package io.zrecord.spark.partition;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.path.Unsupported;
import io.zrecord.table.write.PartitionText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.spark.sql.connector.expressions.Expressions;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.Transform;

/**
 * The columns by which a statement partitions a table.
 *
 * @param names names of the columns, as the statement has them
 */
public record PartitionColumns(List<String> names) {
  /** No partitions. */
  public static final PartitionColumns NONE = new PartitionColumns(List.of());

  private static final String IDENTITY = "identity";

  public PartitionColumns {
    names = List.copyOf(names);
  }

  /** Returns the columns of some fields. */
  public static PartitionColumns of(List<FieldSpec> fields) {
    return new PartitionColumns(fields.stream().map(FieldSpec::name).toList());
  }

  /**
   * Returns the columns of {@code PARTITIONED BY}.
   *
   * @throws UnsupportedOperationException if a partition is not the value of a column
   */
  public static PartitionColumns of(Transform[] transforms) {
    return new PartitionColumns(
        Arrays.stream(transforms).map(PartitionColumns::name).toList());
  }

  private static String name(Transform transform) {
    NamedReference[] columns = transform.references();
    if (transform.name().equals(IDENTITY)
        && columns.length == 1
        && columns[0].fieldNames().length == 1) {
      return columns[0].fieldNames()[0];
    }
    throw Unsupported.operation(
        "partitions by " + transform.describe(),
        "a partition is the value of a column: add a column with that value to the query and to the"
            + " table, such as a date for days, and partition by it");
  }

  /** Returns the columns in the words of Spark. */
  public Transform[] transforms() {
    return names.stream().map(name -> Expressions.identity(quoted(name))).toArray(Transform[]::new);
  }

  /** Returns a name that Spark takes for one part, whatever characters the name has. */
  public static String quoted(String name) {
    return '`' + name.replace("`", "``") + '`';
  }

  public boolean isEmpty() {
    return names.isEmpty();
  }

  /**
   * Returns the fields of a table that have these names.
   *
   * @throws SchemaMismatchException if there is no such field, or one cannot be a partition field
   */
  public List<FieldSpec> fields(String location, RecordSchema schema, boolean isCaseSensitive) {
    List<FieldSpec> fields = new ArrayList<>();
    for (String name : names) {
      FieldSpec field = find(schema, name, isCaseSensitive)
          .orElseThrow(() -> new SchemaMismatchException(
              location,
              "Cannot partition " + location + " by '" + name + "': the columns are "
                  + schema.fields().stream()
                      .map(FieldSpec::name)
                      .collect(Collectors.joining(", "))));
      if (!PartitionText.isAllowed(field)) {
        throw new SchemaMismatchException(
            location,
            "Cannot partition " + location + " by '" + name + "' of type " + field.type()
                + (field.shape().isScalar() ? "" : field.shape())
                + "; a column of integers, booleans, decimals, dates, timestamps or strings can"
                + " be one");
      }
      if (fields.contains(field)) {
        throw new SchemaMismatchException(
            location, "Cannot partition " + location + " by '" + name + "' twice; name it once");
      }
      fields.add(field);
    }
    return fields;
  }

  private static Optional<FieldSpec> find(
      RecordSchema schema, String name, boolean isCaseSensitive) {
    Optional<FieldSpec> exact = schema.find(name);
    return exact.isPresent() || isCaseSensitive
        ? exact
        : schema.fields().stream()
            .filter(field -> field.name().equalsIgnoreCase(name))
            .findFirst();
  }

  /**
   * Requires that a statement partitions a table as the table is, or says nothing of it.
   *
   * @param found the partition columns of the table
   * @throws IllegalArgumentException if the two differ
   */
  public void requireAgreement(String location, PartitionColumns found) {
    if (isEmpty()) {
      return;
    }
    boolean agree = names.size() == found.names().size();
    for (int i = 0; agree && i < names.size(); i++) {
      agree = names.get(i).equalsIgnoreCase(found.names().get(i));
    }
    if (!agree) {
      throw new IllegalArgumentException("The statement partitions " + location + " by " + names
          + ", but "
          + (found.isEmpty() ? "it has no partitions" : "it is partitioned by " + found.names())
          + "; leave PARTITIONED BY out, or name the same columns");
    }
  }
}
