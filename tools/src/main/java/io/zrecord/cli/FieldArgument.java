package io.zrecord.cli;

import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Parses fields from the command line: {@code name:type[:shape][:codec[:level]]}. Stateless. */
final class FieldArgument {
  private static final Pattern SHAPE = Pattern.compile("\\[?(-?\\d{1,10}(?:[,x]\\d{1,10})*)]?");

  private FieldArgument() {}

  /**
   * Parses a field.
   *
   * @throws IllegalArgumentException if the text is not a field; the message says what is expected
   */
  static FieldSpec parse(int id, String text) {
    List<String> parts = List.of(text.split(":", -1));
    if (parts.size() < 2) {
      throw new IllegalArgumentException("Field '" + text
          + "' has no type: expected name:type[:shape][:codec], such as image:u8:28,28:zstd");
    }
    boolean hasShape = parts.size() > 2 && SHAPE.matcher(parts.get(2)).matches();
    List<String> codec = parts.subList(hasShape ? 3 : 2, parts.size());
    return new FieldSpec(
        id,
        parts.get(0),
        ElementType.parse(parts.get(1)),
        hasShape ? shape(parts.get(2)) : Shape.scalar(),
        codec.isEmpty() ? Compression.RAW : Compression.parse(String.join(":", codec)));
  }

  private static Shape shape(String text) {
    String[] dimensions = text.replaceAll("[\\[\\]]", "").split("[,x]", -1);
    try {
      return new Shape(Stream.of(dimensions).map(Integer::valueOf).toList());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(
          "Shape '" + text + "' has a dimension beyond 2147483647", e);
    }
  }
}
