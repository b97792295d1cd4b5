package io.zrecord.schema;

import java.io.Serializable;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Describes one field of a dataset: a column of values, one for each record, each of which may be
 * absent. Immutable.
 *
 * @param id number of the field, ≥ 1, unique in the dataset for ever; a rename keeps the number
 * @param name any Unicode string of 1 to 1,024 UTF-16 units, without U+0000 and unpaired surrogates
 * @param type type of an element
 * @param shape shape of a value; scalar for {@code bytes} and {@code utf8}
 * @param compression how values are written
 * @param attributes strings carried for applications; the engine does not read them
 * @param rules whether values may be absent, and defaults
 */
public record FieldSpec(
    int id,
    String name,
    ElementType type,
    Shape shape,
    Compression compression,
    Map<String, String> attributes,
    FieldRules rules)
    implements Serializable {
  private static final int MAX_NAME_LENGTH = 1024;
  private static final int MAX_ATTRIBUTE_LENGTH = 1 << 19;

  public FieldSpec {
    attributes = java.util.Collections.unmodifiableMap(new TreeMap<>(attributes));
    attributes.forEach((key, value) -> {
      if (key.length() > MAX_NAME_LENGTH || value.length() > MAX_ATTRIBUTE_LENGTH) {
        throw new IllegalArgumentException("Field '" + name + "' has an attribute of "
            + key.length() + " + " + value.length() + " characters; a name has at most "
            + MAX_NAME_LENGTH + " and a value at most " + MAX_ATTRIBUTE_LENGTH);
      }
    });
    requireIdAndName(id, name);
    if (!shape.isScalar() && type.widthBytes().isEmpty()) {
      throw new IllegalArgumentException("Field '" + name + "' of type " + type + " has shape "
          + shape + "; values of this type have no shape");
    }
    if (type.widthBytes().isPresent()) {
      try {
        Math.multiplyExact(
            type.widthBytes().getAsInt(),
            shape.isVariable() ? shape.elementsPerStep() : shape.elementCount().orElseThrow());
      } catch (ArithmeticException e) {
        throw new IllegalArgumentException(
            "Field '" + name + "' of type " + type + " with shape " + shape
                + " has values beyond 2147483647 bytes",
            e);
      }
    }
    requireFits(name, type, shape, "initial", rules.initialHex());
    requireFits(name, type, shape, "write", rules.writeHex());
  }

  /** Makes a field whose values may be absent, without defaults. */
  public FieldSpec(
      int id,
      String name,
      ElementType type,
      Shape shape,
      Compression compression,
      Map<String, String> attributes) {
    this(id, name, type, shape, compression, attributes, FieldRules.NONE);
  }

  /** Makes a field without attributes. */
  public FieldSpec(int id, String name, ElementType type, Shape shape, Compression compression) {
    this(id, name, type, shape, compression, Map.of());
  }

  /** Returns the bytes of every present value; empty if they differ from value to value. */
  public OptionalInt valueWidthBytes() {
    OptionalInt element = type.widthBytes();
    return element.isEmpty() || shape.isVariable()
        ? OptionalInt.empty()
        : OptionalInt.of(element.getAsInt() * shape.elementCount().orElseThrow());
  }

  /**
   * Returns whether values can be kept as dense runs in a sealed shard: {@code raw} and of one
   * width ≥ 1 (FORMAT.md section 5).
   */
  public boolean isDense() {
    return compression.codec() == Codec.RAW && valueWidthBytes().orElse(0) > 0;
  }

  /** Returns this field with another id. */
  public FieldSpec withId(int newId) {
    return new FieldSpec(newId, name, type, shape, compression, attributes, rules);
  }

  /** Returns this field with another compression. */
  public FieldSpec withCompression(Compression newCompression) {
    return new FieldSpec(id, name, type, shape, newCompression, attributes, rules);
  }

  /** Returns this field with another name. */
  public FieldSpec withName(String newName) {
    return new FieldSpec(id, newName, type, shape, compression, attributes, rules);
  }

  /** Returns this field with another type. */
  public FieldSpec withType(ElementType newType) {
    return new FieldSpec(id, name, newType, shape, compression, attributes, rules);
  }

  /** Returns this field with other rules. */
  public FieldSpec withRules(FieldRules newRules) {
    return new FieldSpec(id, name, type, shape, compression, attributes, newRules);
  }

  /** Returns this field with other attributes. */
  public FieldSpec withAttributes(Map<String, String> newAttributes) {
    return new FieldSpec(id, name, type, shape, compression, newAttributes, rules);
  }

  /** Returns this field without its attributes: all that a reader of values needs. */
  public FieldSpec withoutAttributes() {
    FieldRules needed = rules.forReaders();
    return attributes.isEmpty() && needed.equals(rules)
        ? this
        : new FieldSpec(id, name, type, shape, compression, Map.of(), needed);
  }

  private static void requireFits(
      String name, ElementType type, Shape shape, String which, @Nullable String hex) {
    if (hex == null) {
      return;
    }
    int bytes = hex.length() / 2;
    int width = type.widthBytes().orElse(1);
    boolean fits = type.tree() == null
        && (type.widthBytes().isEmpty()
            || (shape.isVariable()
                ? bytes % Math.max(1L, (long) width * shape.elementsPerStep()) == 0
                : bytes == width * shape.elementCount().orElseThrow()));
    if (!fits) {
      throw new IllegalArgumentException("The " + which + " default of field '" + name + "' has "
          + bytes + " bytes, which are no value of type " + type + " and shape " + shape);
    }
  }

  static void requireIdAndName(int id, String name) {
    if (id < 1) {
      throw new IllegalArgumentException("Field '" + name + "' has id " + id + "; ids are >= 1");
    }
    if (name.isEmpty()
        || name.length() > MAX_NAME_LENGTH
        || name.indexOf(0) >= 0
        || hasUnpairedSurrogate(name)) {
      throw new IllegalArgumentException(
          "Field name '" + name + "' of " + name.length() + " characters is not allowed: use 1 to "
              + MAX_NAME_LENGTH + " characters of valid Unicode without U+0000");
    }
  }

  static boolean hasUnpairedSurrogate(String text) {
    return text.codePoints()
        .anyMatch(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
  }
}
