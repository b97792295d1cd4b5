package io.zrecord.spark.procedure;

import io.zrecord.cli.maintenance.AgeConverter;
import io.zrecord.spark.job.JobConcurrency;
import io.zrecord.storage.Storage;
import io.zrecord.table.RecordTable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import picocli.CommandLine.TypeConversionException;

/** The arguments of one call, by the names of the parameters. Belongs to one thread. */
final class Arguments {
  private final List<Parameter> parameters;
  private final InternalRow values;
  private final Function<String, Storage> tables;

  /**
   * Takes the arguments.
   *
   * @param values a value for each parameter, in the same order
   * @param tables finds the storage of the table that an argument names
   */
  Arguments(List<Parameter> parameters, InternalRow values, Function<String, Storage> tables) {
    this.parameters = parameters;
    this.values = values;
    this.tables = tables;
  }

  SparkSession spark() {
    return SparkSession.active();
  }

  /**
   * Returns the storage of the table.
   *
   * @throws IllegalArgumentException if there is no such table, or it is a store that is written
   *     online
   */
  Storage storage() {
    return tables.apply(text(Parameter.TABLE.name()));
  }

  RecordTable table() {
    return RecordTable.at(storage());
  }

  /** Returns a text that must not be null. */
  String text(String name) {
    return optionalText(name)
        .orElseThrow(() ->
            new IllegalArgumentException("The argument '" + name + "' is NULL; give a value"));
  }

  Optional<String> optionalText(String name) {
    int i = ordinal(name);
    return values.isNullAt(i)
        ? Optional.empty()
        : Optional.of(values.getUTF8String(i).toString());
  }

  Optional<Long> optionalLong(String name) {
    int i = ordinal(name);
    return values.isNullAt(i) ? Optional.empty() : Optional.of(values.getLong(i));
  }

  Optional<Double> optionalDouble(String name) {
    int i = ordinal(name);
    return values.isNullAt(i) ? Optional.empty() : Optional.of(values.getDouble(i));
  }

  /** Returns a number that must not be null. */
  int requiredInt(String name) {
    return optionalInt(name)
        .orElseThrow(() ->
            new IllegalArgumentException("The argument '" + name + "' is NULL; give a number"));
  }

  Optional<Integer> optionalInt(String name) {
    int i = ordinal(name);
    return values.isNullAt(i) ? Optional.empty() : Optional.of(values.getInt(i));
  }

  /** Returns a map; an empty one if the argument is null. */
  Map<String, String> map(String name) {
    int i = ordinal(name);
    return values.isNullAt(i) ? Map.of() : MapArgument.of(values.getMap(i));
  }

  /** Returns how many parts of the work run at once. */
  JobConcurrency concurrency() {
    return optionalInt("concurrency")
        .map(JobConcurrency::new)
        .orElseGet(() -> JobConcurrency.of(spark()));
  }

  boolean flag(String name) {
    int i = ordinal(name);
    if (values.isNullAt(i)) {
      throw new IllegalArgumentException("The argument '" + name + "' is NULL; give true or false");
    }
    return values.getBoolean(i);
  }

  /** Returns a time span such as {@code 90m}, {@code 72h} or {@code 7d}. */
  Duration age(String name) {
    String text = text(name);
    try {
      return new AgeConverter().convert(text);
    } catch (TypeConversionException e) {
      throw new IllegalArgumentException("The argument '" + name + "': " + e.getMessage(), e);
    }
  }

  private int ordinal(String name) {
    for (int i = 0; i < parameters.size(); i++) {
      if (parameters.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalStateException("The procedure has no parameter '" + name + "'");
  }
}
