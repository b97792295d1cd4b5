package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.UnreadableField;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.function.UnaryOperator;

/** Reads and writes the field specs of meta files and manifests (FORMAT.md sections 3 and 7). */
public final class FieldJson {
  /** Members that this release knows of a field in a manifest. */
  public static final Set<String> MEMBERS = Set.of(
      "id",
      "name",
      "dtype",
      "shape",
      "type",
      "compress",
      "level",
      "attributes",
      "nullable",
      "initial",
      "write",
      "comment",
      "default",
      "features");

  private FieldJson() {}

  public static ObjectNode write(FieldSpec field) {
    ObjectNode node = SealedJson.object();
    node.put("id", field.id()).put("name", field.name());
    TypeJson.write(node, field.type(), field.shape());
    write(node, field.compression());
    if (!field.attributes().isEmpty()) {
      ObjectNode attributes = node.putObject("attributes");
      field.attributes().forEach(attributes::put);
    }
    write(node, field.rules());
    return node;
  }

  private static void write(ObjectNode node, FieldRules rules) {
    if (!rules.isNullable()) {
      node.put("nullable", false);
    }
    if (rules.initialHex() != null) {
      node.put("initial", rules.initialHex());
    }
    if (rules.writeHex() != null) {
      node.put("write", rules.writeHex());
    }
    if (!rules.comment().isEmpty()) {
      node.put("comment", rules.comment());
    }
    if (rules.defaultSql() != null) {
      node.put("default", rules.defaultSql());
    }
    if (rules.hasDefaultExpression()) {
      Features.write(node, Features.DEFAULT_EXPRESSION);
    }
  }

  private static FieldRules rules(JsonObject json) {
    FieldRules rules = new FieldRules(
        json.flag("nullable", true),
        json.has("initial") ? json.string("initial") : null,
        json.has("write") ? json.string("write") : null,
        json.has("comment") ? json.string("comment") : "",
        json.has("default") ? json.string("default") : null);
    if (rules.hasDefaultExpression()
        && !Features.hasForWriters(json, Features.DEFAULT_EXPRESSION)) {
      throw json.corrupt(
          "the default of a field is no constant, but its features for writers lack '"
              + Features.DEFAULT_EXPRESSION + "'");
    }
    return rules;
  }

  static void write(ObjectNode node, Compression compression) {
    node.put("compress", compression.codec().toString());
    if (compression.codec() != Codec.RAW) {
      node.put("level", compression.level());
    }
  }

  /**
   * Returns the field if it cannot be read: it names a feature that this release does not know, or
   * has an unknown dtype, compression or layout. Empty if it can be read.
   */
  public static Optional<UnreadableField> unreadable(JsonObject json) {
    Optional<String> feature = Features.of(json)
        .unknownToReaders()
        .or(() -> TypeJson.unknown(json))
        .or(() -> unknown(json, "compress", name -> Codec.parse(name).toString()))
        .or(() -> json.has("layout")
            ? unknown(json, "layout", name -> FieldMeta.LAYOUT)
            : Optional.empty());
    if (feature.isEmpty()) {
      return Optional.empty();
    }
    int id = (int) json.integer("id", 1, Integer.MAX_VALUE);
    try {
      return Optional.of(new UnreadableField(id, nameOf(json), feature.get()));
    } catch (IllegalArgumentException e) {
      throw json.corrupt("field " + id + " is invalid: " + e.getMessage());
    }
  }

  /** Returns the name of a field, which tables files do not have. */
  static String nameOf(JsonObject field) {
    return field.has("name")
        ? field.string("name")
        : "with the id " + field.integer("id", 1, Integer.MAX_VALUE);
  }

  /**
   * Returns a member and its value if this release does not know the value.
   *
   * @param parser returns the name of what it parsed, or throws an IllegalArgumentException
   */
  static Optional<String> unknown(JsonObject json, String member, UnaryOperator<String> parser) {
    String value = json.string(member);
    try {
      if (parser.apply(value).equals(value)) {
        return Optional.empty();
      }
    } catch (IllegalArgumentException e) {
      // A later release may have added the value.
    }
    return Optional.of(member + " " + (value.length() > 64 ? value.substring(0, 64) + "…" : value));
  }

  /** Reads the fields of a manifest, with those that cannot be read. */
  public static RecordSchema readSchema(JsonObject json) {
    List<FieldSpec> fields = new ArrayList<>();
    List<UnreadableField> unreadable = new ArrayList<>();
    for (JsonObject field : json.objects("fields")) {
      unreadable(field).ifPresentOrElse(unreadable::add, () -> fields.add(read(field)));
    }
    try {
      return new RecordSchema(fields, unreadable);
    } catch (IllegalArgumentException e) {
      throw json.corrupt(String.valueOf(e.getMessage()));
    }
  }

  /** Reads a field that is not {@link #unreadable}. */
  static FieldSpec read(JsonObject json) {
    int id = (int) json.integer("id", 1, Integer.MAX_VALUE);
    String name = json.string("name");
    ElementType type = TypeJson.read(json);
    Compression compression = compression(json);
    try {
      return new FieldSpec(
          id,
          name,
          type,
          TypeJson.shape(json),
          compression,
          json.strings("attributes"),
          rules(json));
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw json.corrupt("field " + id + " is invalid: " + e.getMessage());
    }
  }

  /**
   * Returns the compression. The level is informative: a level that this release cannot write with
   * is ignored.
   */
  static Compression compression(JsonObject json) {
    Codec codec = json.parse("compress", Codec::parse);
    OptionalInt level = json.optionalInteger("level", Integer.MIN_VALUE, Integer.MAX_VALUE);
    try {
      return level.isPresent() ? new Compression(codec, level.getAsInt()) : Compression.of(codec);
    } catch (IllegalArgumentException e) {
      return Compression.of(codec);
    }
  }
}
