package io.zrecord.spark.column;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.StructField;

/**
 * Keeps what an application says of a column, such as the attributes of Spark ML, as JSON in an
 * attribute of the field. What Spark and zrecord say of a column themselves has places of its own.
 * Stateless.
 */
public final class ColumnMetadata {
  /** Attribute of a field. */
  static final String ATTRIBUTE = "spark.metadata";

  private static final int MOST_CHARACTERS = 1 << 19;

  private static final Set<String> OWN = Set.of(
      SparkTypes.DTYPE_KEY,
      SparkTypes.SHAPE_KEY,
      SparkTypes.DEFAULT_KEY,
      "EXISTS_DEFAULT",
      "comment");

  /** Begins the names of what Spark notes for itself. */
  private static final String OF_SPARK = "__";

  private static final ObjectMapper JSON = new ObjectMapper();

  private ColumnMetadata() {}

  /**
   * Returns a field that keeps the metadata of its column.
   *
   * @throws IllegalArgumentException if there is more of it than a field keeps
   */
  public static FieldSpec keep(FieldSpec field, StructField column) {
    ObjectNode said = ofApplications(column.metadata().json());
    if (said.isEmpty()) {
      return field;
    }
    String text = said.toString();
    if (text.length() > MOST_CHARACTERS) {
      throw new IllegalArgumentException(
          "column '" + column.name() + "' has metadata of " + text.length()
              + " characters, of which a field keeps at most " + MOST_CHARACTERS
              + "; write the column without, as col(name).as(name, Metadata.empty())");
    }
    Map<String, String> attributes = new TreeMap<>(field.attributes());
    attributes.put(ATTRIBUTE, text);
    return field.withAttributes(attributes);
  }

  /** Returns what a field keeps; nothing if that is no metadata of Spark. */
  static Metadata of(FieldSpec field) {
    String text = field.attributes().get(ATTRIBUTE);
    if (text == null) {
      return Metadata.empty();
    }
    try {
      return Metadata.fromJson(ofApplications(text).toString());
    } catch (RuntimeException e) {
      // Another program wrote it.
      return Metadata.empty();
    }
  }

  private static ObjectNode ofApplications(String text) {
    try {
      JsonNode read = JSON.readTree(text);
      ObjectNode said = read instanceof ObjectNode node ? node : JSON.createObjectNode();
      said.remove(OWN);
      List<String> names = new ArrayList<>();
      said.fieldNames().forEachRemaining(names::add);
      names.stream().filter(name -> name.startsWith(OF_SPARK)).forEach(said::remove);
      return said;
    } catch (JsonProcessingException e) {
      return JSON.createObjectNode();
    }
  }
}
