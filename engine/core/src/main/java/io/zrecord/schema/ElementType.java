package io.zrecord.schema;

import java.io.Serializable;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The type of one element of a value ({@code dtype}, FORMAT.md section 8). To the engine a value is
 * bytes; projections (Spark columns, NumPy, Arrow) read elements of this type. Immutable.
 *
 * @param kind what the element is
 * @param precision decimal digits of a {@link Kind#DECIMAL}, 1 to 38; 0 for every other kind
 * @param scale fraction digits of a {@link Kind#DECIMAL}, 0 to precision; 0 for every other kind
 * @param tree what a {@link Kind#NESTED} value consists of; null for every other kind
 */
public record ElementType(
    Kind kind, int precision, int scale, @Nullable NestedType tree) implements Serializable {

  /** Kinds of elements. */
  public enum Kind {
    BOOL(1),
    I8(1),
    U8(1),
    I16(2),
    U16(2),
    I32(4),
    U32(4),
    I64(8),
    U64(8),
    F16(2),
    BF16(2),
    F32(4),
    F64(8),
    DATE(4),
    TIMESTAMP(8),
    TIMESTAMP_NTZ(8),
    DECIMAL(-1),
    BYTES(-1),
    UTF8(-1),
    NESTED(-1);

    private final int bytes;

    Kind(int bytes) {
      this.bytes = bytes;
    }
  }

  public static final ElementType BOOL = of(Kind.BOOL);
  public static final ElementType I8 = of(Kind.I8);
  public static final ElementType U8 = of(Kind.U8);
  public static final ElementType I16 = of(Kind.I16);
  public static final ElementType U16 = of(Kind.U16);
  public static final ElementType I32 = of(Kind.I32);
  public static final ElementType U32 = of(Kind.U32);
  public static final ElementType I64 = of(Kind.I64);
  public static final ElementType U64 = of(Kind.U64);
  public static final ElementType F16 = of(Kind.F16);
  public static final ElementType BF16 = of(Kind.BF16);
  public static final ElementType F32 = of(Kind.F32);
  public static final ElementType F64 = of(Kind.F64);
  public static final ElementType DATE = of(Kind.DATE);
  public static final ElementType TIMESTAMP = of(Kind.TIMESTAMP);
  public static final ElementType TIMESTAMP_NTZ = of(Kind.TIMESTAMP_NTZ);
  public static final ElementType BYTES = of(Kind.BYTES);
  public static final ElementType UTF8 = of(Kind.UTF8);

  private static final Pattern DECIMAL_NAME =
      Pattern.compile("decimal\\(([1-9][0-9]?),(0|[1-9][0-9]?)\\)");

  public ElementType {
    boolean decimal = kind == Kind.DECIMAL;
    if (decimal
        ? precision < 1 || precision > 38 || scale < 0 || scale > precision
        : precision != 0 || scale != 0) {
      throw new IllegalArgumentException(
          "Invalid element type " + kind + "(" + precision + "," + scale
              + "): a decimal has a precision of 1 to 38 and a scale of 0 to its precision, other types have neither");
    }
    if ((kind == Kind.NESTED) != (tree != null)) {
      throw new IllegalArgumentException("A nested type has a tree, other types have none");
    }
    if (tree != null) {
      requireWithinLimits(tree);
    }
  }

  private static void requireWithinLimits(NestedType tree) {
    if (tree instanceof NestedType.Leaf) {
      throw new IllegalArgumentException("A nested type is a list, a map or a struct, not " + tree);
    }
    if (tree.depth() > NestedType.MAX_DEPTH || tree.typeCount() > NestedType.MAX_TYPES) {
      throw new IllegalArgumentException("A nested type has " + tree.depth()
          + " lists, maps and structs within each other and " + tree.typeCount()
          + " types in all; at most " + NestedType.MAX_DEPTH + " and " + NestedType.MAX_TYPES
          + " are allowed");
    }
  }

  /**
   * Returns the type of the given kind, which is neither {@link Kind#DECIMAL} nor
   * {@link Kind#NESTED}.
   */
  public static ElementType of(Kind kind) {
    return new ElementType(kind, 0, 0, null);
  }

  /**
   * Returns the type of nested values.
   *
   * @throws IllegalArgumentException if the tree is a leaf, or beyond the limits
   */
  public static ElementType nested(NestedType tree) {
    return new ElementType(Kind.NESTED, 0, 0, tree);
  }

  /**
   * Returns a decimal of {@code precision} digits (1 to 38), of which {@code scale} (0 to
   * precision) follow the point.
   */
  public static ElementType decimal(int precision, int scale) {
    return new ElementType(Kind.DECIMAL, precision, scale, null);
  }

  /**
   * Parses a type's name in metadata, such as {@code f32} or {@code decimal(10,2)}.
   *
   * @throws IllegalArgumentException if there is no such type
   */
  public static ElementType parse(String name) {
    Matcher decimal = DECIMAL_NAME.matcher(name);
    if (decimal.matches()) {
      return decimal(Integer.parseInt(decimal.group(1)), Integer.parseInt(decimal.group(2)));
    }
    for (Kind kind : Kind.values()) {
      if (kind != Kind.DECIMAL && kind != Kind.NESTED && nameOf(kind).equals(name)) {
        return of(kind);
      }
    }
    throw new IllegalArgumentException(
        "Unknown dtype '" + name + "': expected one of bool, i8, u8, i16, u16, i32, u32, i64, "
            + "u64, f16, bf16, f32, f64, date, timestamp, timestamp_ntz, decimal(p,s), bytes, utf8");
  }

  /**
   * Returns the width of one element in bytes. Empty for {@code bytes}, {@code utf8} and nested
   * values, which have any length.
   */
  public OptionalInt widthBytes() {
    if (kind == Kind.DECIMAL) {
      return OptionalInt.of(precision <= 9 ? 4 : precision <= 18 ? 8 : 16);
    }
    return kind.bytes < 0 ? OptionalInt.empty() : OptionalInt.of(kind.bytes);
  }

  /**
   * Returns the tree of nested values.
   *
   * @throws IllegalStateException if values are not nested
   */
  public NestedType requireTree() {
    if (tree == null) {
      throw new IllegalStateException("Values of type " + this + " are not nested");
    }
    return tree;
  }

  /** Returns the type's name in metadata. The name of a nested type shows its tree. */
  @Override
  public String toString() {
    if (tree != null) {
      return tree.toString();
    }
    return kind == Kind.DECIMAL ? "decimal(" + precision + "," + scale + ")" : nameOf(kind);
  }

  private static String nameOf(Kind kind) {
    return kind.name().toLowerCase(Locale.ROOT);
  }
}
