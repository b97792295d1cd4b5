package io.zrecord.spark.column;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.schema.FieldSpec;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;

/**
 * Keeps what an application says of a column, such as the attributes of Spark ML, as JSON in an
 * attribute of the field. What Spark and zrecord themselves note in the metadata of a column has
 * other places, or belongs to one query. Stateless.
 */
public final class ColumnMetadata {
  /** Attribute of a field. */
  static final String ATTRIBUTE = "spark.metadata";

  /** Most characters that a column keeps, which is the most that an attribute has. */
  private static final int MOST_OF_COLUMN = 1 << 19;

  /** Most characters that the columns of a table keep together: each manifest repeats them. */
  private static final int MOST_OF_TABLE = 1 << 22;

  /** Names under which Spark keeps what is declared of a column. */
  private static final Set<String> DECLARED = Set.of(
      "comment",
      SparkTypes.DEFAULT_KEY,
      "EXISTS_DEFAULT",
      "GENERATION_EXPRESSION",
      "HIVE_TYPE_STRING");

  /** Begin more of these names, such as that of the type CHAR. */
  private static final List<String> DECLARED_BEGINNINGS = List.of("__", "identity.");

  /** Name under which Spark notes the type CHAR or VARCHAR of a column of strings. */
  private static final String OF_CHAR = "__CHAR_VARCHAR_TYPE_STRING";

  /** Begins the names of what belongs to one query, such as a window of time. */
  private static final String OF_QUERIES = "spark.";

  private static final String OF_ZRECORD = "zrecord.";

  /** What Spark writes, as texts, for numbers that JSON does not have. */
  private static final Set<String> OTHER_NUMBERS = Set.of("NaN", "Infinity", "-Infinity");

  private static final ObjectMapper JSON = new ObjectMapper();

  private ColumnMetadata() {}

  /**
   * Returns a field that keeps what an application says of the column, in place of what the field
   * kept before.
   *
   * @throws IllegalArgumentException if that is more than 524,288 characters of JSON, or has a
   *     number that JSON does not have
   */
  public static FieldSpec replaced(FieldSpec field, StructField column) {
    Metadata said = ofApplications(column.metadata());
    if (said.equals(Metadata.empty())) {
      return forgotten(field);
    }
    String text = said.json();
    if (hasOtherNumbers(read(text)) && !isReadAs(said, text)) {
      throw new IllegalArgumentException("column '" + column.name() + "' has metadata with NaN or"
          + " an infinity, which JSON does not have; write the column without, as"
          + " col(name).as(name, Metadata.empty())");
    }
    if (text.length() > MOST_OF_COLUMN) {
      throw new IllegalArgumentException("column '" + column.name() + "' has metadata of "
          + text.length() + " characters, of which a column keeps at most " + MOST_OF_COLUMN
          + "; write the column without, as col(name).as(name, Metadata.empty())");
    }
    Map<String, String> attributes = new TreeMap<>(field.attributes());
    attributes.put(ATTRIBUTE, text);
    return field.withAttributes(attributes);
  }

  /** Returns a field that keeps nothing that an application said of the column. */
  public static FieldSpec forgotten(FieldSpec field) {
    Map<String, String> attributes = new TreeMap<>(field.attributes());
    attributes.remove(ATTRIBUTE);
    return field.withAttributes(attributes);
  }

  /**
   * Refuses fields that would make the manifests of a table large.
   *
   * @throws IllegalArgumentException if the fields keep more than 4,194,304 characters together
   */
  public static void requireFew(List<FieldSpec> fields) {
    long characters = fields.stream()
        .mapToLong(field -> field.attributes().getOrDefault(ATTRIBUTE, "").length())
        .sum();
    if (characters > MOST_OF_TABLE) {
      throw new IllegalArgumentException("the columns have metadata of " + characters
          + " characters, of which a table keeps at most " + MOST_OF_TABLE
          + "; write some columns without, as col(name).as(name, Metadata.empty())");
    }
  }

  /** Returns what a field keeps; nothing if another program wrote what is no metadata of Spark. */
  static Metadata of(FieldSpec field) {
    String kept = field.attributes().get(ATTRIBUTE);
    try {
      return kept == null ? Metadata.empty() : ofApplications(Metadata.fromJson(kept));
    } catch (RuntimeException e) {
      return Metadata.empty();
    }
  }

  /** Returns what Spark declares of a column, such as the comment and the default. */
  public static Metadata ofSpark(StructField column) {
    return only(column.metadata(), ColumnMetadata::isDeclared);
  }

  /** Returns what an application says of a column. */
  public static Metadata ofApplications(Metadata column) {
    return only(column, ColumnMetadata::isOfApplications);
  }

  /** Returns what Spark declares and zrecord says of a column, and nothing else. */
  public static Metadata withoutApplications(Metadata column) {
    return only(column, name -> isDeclared(name) || name.startsWith(OF_ZRECORD));
  }

  /** Returns the columns with what Spark declares and zrecord says of them, and nothing else. */
  public static StructType withoutApplications(StructType columns) {
    return each(columns, ColumnMetadata::withoutApplications);
  }

  /** Returns the columns without the numbers of their fields, for what outlives this session. */
  public static StructType withoutFieldIds(StructType columns) {
    return each(columns, metadata -> only(metadata, name -> !name.equals(FieldIds.KEY)));
  }

  /** Returns the columns with what applications and zrecord say of them, and nothing else. */
  public static StructType withoutSpark(StructType columns) {
    return each(
        columns,
        metadata -> only(metadata, name -> isOfApplications(name) || name.startsWith(OF_ZRECORD)));
  }

  /**
   * Tells whether two columns have the same metadata. Spark removes its note of CHAR from some, and
   * the number of the field.
   */
  public static boolean haveTheSame(Metadata column, Metadata other) {
    return only(column, ColumnMetadata::isCompared).equals(only(other, ColumnMetadata::isCompared));
  }

  private static boolean isCompared(String name) {
    return !name.equals(OF_CHAR) && !name.equals(FieldIds.KEY);
  }

  /** Returns the names and types of the columns: all that tasks need, and can be compared. */
  public static StructType bare(StructType columns) {
    return each(columns, metadata -> Metadata.empty());
  }

  private static StructType each(StructType columns, UnaryOperator<Metadata> change) {
    return new StructType(Arrays.stream(columns.fields())
        .map(column -> new StructField(
            column.name(), column.dataType(), column.nullable(), change.apply(column.metadata())))
        .toArray(StructField[]::new));
  }

  private static boolean isOfSpark(String name) {
    return DECLARED.contains(name) || DECLARED_BEGINNINGS.stream().anyMatch(name::startsWith);
  }

  /** Leaves out the number of a field, which is the field's alone. */
  private static boolean isDeclared(String name) {
    return isOfSpark(name) && !name.equals(FieldIds.KEY);
  }

  private static boolean isOfApplications(String name) {
    return !isOfSpark(name) && !name.startsWith(OF_QUERIES) && !name.startsWith(OF_ZRECORD);
  }

  private static Metadata only(Metadata metadata, Predicate<String> names) {
    MetadataBuilder kept = new MetadataBuilder().withMetadata(metadata);
    read(metadata.json()).fieldNames().forEachRemaining(name -> {
      if (!names.test(name)) {
        kept.remove(name);
      }
    });
    return kept.build();
  }

  private static JsonNode read(String json) {
    try {
      return JSON.readTree(json);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("This Spark writes metadata in another form", e);
    }
  }

  private static boolean isReadAs(Metadata metadata, String json) {
    try {
      return Metadata.fromJson(json).equals(metadata);
    } catch (RuntimeException e) {
      return false; // A list of numbers and texts, such as [1.0,"NaN"].
    }
  }

  /** Tells whether there is a text as which Spark writes a number that JSON does not have. */
  private static boolean hasOtherNumbers(JsonNode node) {
    if (node.isTextual()) {
      return OTHER_NUMBERS.contains(node.textValue());
    }
    for (JsonNode child : node) {
      if (hasOtherNumbers(child)) {
        return true;
      }
    }
    return false;
  }
}
