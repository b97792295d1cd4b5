package io.zrecord.serving;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Fields as JSON objects of name, type, shape, codec and nullability. Stateless. */
final class FieldJson {
  private FieldJson() {}

  /** Adds the fields of a table to a list. */
  static void write(RecordSchema schema, ArrayNode list) {
    for (FieldSpec field : schema.fields()) {
      ObjectNode node = list.addObject()
          .put("name", field.name())
          .put("type", field.type().toString())
          .put("nested", field.type().tree() != null)
          .put("codec", field.compression().toString())
          .put("nullable", field.rules().isNullable());
      ArrayNode shape = node.putArray("shape");
      field.shape().dimensions().forEach(shape::add);
    }
  }

  /**
   * Reads fields.
   *
   * @param present fields of the table, which keep their codec where none is given
   * @throws IllegalArgumentException if they are no fields; the message names the field
   */
  static RecordSchema read(JsonNode list, RecordSchema present) {
    if (!list.isArray() || list.isEmpty()) {
      throw new IllegalArgumentException("There is no field; give at least one");
    }
    List<FieldSpec> fields = new ArrayList<>();
    for (JsonNode node : list) {
      fields.add(read(fields.size() + 1, Arguments.of(node), present));
    }
    return new RecordSchema(fields);
  }

  private static FieldSpec read(int id, Arguments field, RecordSchema present) {
    String name = field.text("name");
    List<Integer> dimensions = new ArrayList<>();
    field
        .find("shape")
        .ifPresent(shape -> shape.forEach(dimension -> {
          if (!dimension.canConvertToInt()) {
            throw new IllegalArgumentException(
                "Field '" + name + "' has the dimension " + dimension + "; it must be below 2^31");
          }
          dimensions.add(dimension.intValue());
        }));
    Optional<Compression> ofTable = present.find(name).map(FieldSpec::compression);
    Compression compression = field
        .optionalText("codec")
        .map(Compression::parse)
        .or(() -> ofTable)
        .orElse(Compression.RAW);
    FieldSpec spec = new FieldSpec(
        id, name, ElementType.parse(field.text("type")), new Shape(dimensions), compression);
    FieldRules rules = FieldRules.NONE.withNullable(!field.flag("required"));
    field.requireUsed();
    return spec.withRules(rules);
  }
}
