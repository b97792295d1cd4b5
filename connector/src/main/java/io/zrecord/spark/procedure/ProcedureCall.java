package io.zrecord.spark.procedure;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.spark.path.SparkErrors;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.CatalystTypeConverters;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;
import scala.Option;

/** One call of a procedure by a program, which {@code CALL} does from Spark 4 on. For one run. */
public final class ProcedureCall {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final SparkSession spark;
  private final SystemProcedure procedure;
  private final Map<String, @Nullable Object> given = new TreeMap<>();

  ProcedureCall(SparkSession spark, SystemProcedure procedure) {
    this.spark = spark;
    this.procedure = procedure;
  }

  /**
   * Gives an argument.
   *
   * @param name name of the parameter, in small or large letters
   * @param value a value of the parameter's type, or its text; a map is a {@link Map} of texts, or
   *     an object of JSON; null is NULL
   * @throws IllegalArgumentException if there is no such parameter, the argument was given already,
   *     or the value is none of the parameter
   */
  public void give(String name, @Nullable Object value) {
    Parameter parameter = procedure.parameters().stream()
        .filter(known -> known.name().equalsIgnoreCase(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("The procedure '" + procedure.name()
            + "' has no parameter '" + name + "'; its parameters are "
            + procedure.parameters().stream()
                .map(Parameter::name)
                .collect(Collectors.joining(", "))));
    if (given.containsKey(parameter.name())) {
      throw new IllegalArgumentException(
          "The argument '" + parameter.name() + "' is given twice; give it once");
    }
    given.put(parameter.name(), value == null ? null : value(parameter, value));
  }

  /** Runs the procedure, and returns the rows of its answer. */
  public Dataset<Row> run() {
    List<Parameter> parameters = procedure.parameters();
    StructType types = new StructType();
    List<Object> values = new ArrayList<>();
    for (Parameter parameter : parameters) {
      types = types.add(parameter.name(), parameter.type());
      values.add(
          given.containsKey(parameter.name()) ? given.get(parameter.name()) : byDefault(parameter));
    }
    InternalRow row = (InternalRow) CatalystTypeConverters.createToCatalystConverter(types)
        .apply(RowFactory.create(values.toArray()));
    Arguments arguments =
        new Arguments(parameters, row, text -> TableArgument.storage(spark, text));
    return within(() -> {
      List<Row> answer = SparkErrors.planned(() -> procedure.run(arguments)).stream()
          .map(RowFactory::create)
          .toList();
      return spark.createDataFrame(answer, procedure.columns());
    });
  }

  /** Does something in this session, whose settings storages and jobs have. */
  private <T> T within(Supplier<T> action) {
    Option<SparkSession> before = SparkSession.getActiveSession();
    SparkSession.setActiveSession(spark);
    try {
      return action.get();
    } finally {
      if (before.isDefined()) {
        SparkSession.setActiveSession(before.get());
      } else {
        SparkSession.clearActiveSession();
      }
    }
  }

  private @Nullable Object byDefault(Parameter parameter) {
    String sql = parameter.defaultSql();
    if (sql == null) {
      throw new IllegalArgumentException("The procedure '" + procedure.name()
          + "' needs the argument '" + parameter.name() + "': " + parameter.comment());
    }
    return spark.sql("select " + sql).head().get(0);
  }

  private static Object value(Parameter parameter, Object value) {
    try {
      return value(parameter.type(), value);
    } catch (IllegalArgumentException | JsonProcessingException | ClassCastException e) {
      throw new IllegalArgumentException(
          "The argument '" + parameter.name() + "' has the value '" + value + "', which is no "
              + parameter.type().catalogString() + ": " + parameter.comment(),
          e);
    }
  }

  private static Object value(DataType type, Object value) throws JsonProcessingException {
    String text = String.valueOf(value).strip();
    if (type.equals(DataTypes.BooleanType)) {
      return switch (text.toLowerCase(Locale.ROOT)) {
        case "true" -> true;
        case "false" -> false;
        default -> throw new IllegalArgumentException("neither true nor false");
      };
    }
    if (type.equals(DataTypes.IntegerType)) {
      return Integer.valueOf(text);
    }
    if (type.equals(DataTypes.LongType)) {
      return Long.valueOf(text);
    }
    if (type.equals(DataTypes.DoubleType)) {
      return Double.valueOf(text);
    }
    if (type.equals(MapArgument.TYPE)) {
      return value instanceof Map<?, ?> map
          ? JSON.convertValue(map, new TypeReference<Map<String, String>>() {})
          : JSON.readValue(text, new TypeReference<Map<String, String>>() {});
    }
    return String.valueOf(value);
  }
}
