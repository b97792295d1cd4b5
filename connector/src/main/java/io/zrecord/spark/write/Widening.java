package io.zrecord.spark.write;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.ElementType.Kind;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.Promotions;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.types.DataType;

/**
 * Appends values of a narrower type to a field, where no value can change. The types are those of a
 * promotion, apart from texts, which no store assignment of Spark turns into bytes, and bytes of
 * tensors, which a binary column holds and no column of numbers. Stateless.
 */
final class Widening {
  private static final long MICROS_PER_DAY = 86_400_000_000L;

  /** Reads the bits of a value of fixed width, as the wider type has them. */
  @FunctionalInterface
  interface Bits {
    long get(SpecializedGetters from, int i);
  }

  private Widening() {}

  /** Tells whether each value of a type is a value of another type, also within nested values. */
  static boolean allows(ElementType narrow, ElementType wide) {
    if (narrow.kind() == Kind.NESTED && wide.kind() == Kind.NESTED) {
      return allows(narrow.requireTree(), wide.requireTree());
    }
    return narrow.equals(wide)
        || (narrow.kind() != Kind.U8
            && wide.kind() != Kind.BYTES
            && Promotions.allows(narrow, wide));
  }

  private static boolean allows(NestedType narrow, NestedType wide) {
    if (narrow instanceof NestedType.Leaf from && wide instanceof NestedType.Leaf to) {
      return from.shape().equals(to.shape()) && allows(from.element(), to.element());
    }
    if (narrow instanceof NestedType.StructOf from
        && wide instanceof NestedType.StructOf to
        && !names(from).equals(names(to))) {
      return false;
    }
    if (!narrow.getClass().equals(wide.getClass())) {
      return false;
    }
    List<NestedType> from = narrow.children();
    List<NestedType> to = wide.children();
    for (int i = 0; i < from.size(); i++) {
      if (!allows(from.get(i), to.get(i))) {
        return false;
      }
    }
    return true;
  }

  private static List<String> names(NestedType.StructOf struct) {
    return struct.members().stream().map(NestedType.Member::name).toList();
  }

  /** Returns how to read values of a column's type, which is not a decimal, as a wider type. */
  static Bits bits(DataType column, ElementType wide) {
    return switch (column.typeName()) {
      case "byte" -> SpecializedGetters::getByte;
      case "short" -> SpecializedGetters::getShort;
      case "integer" -> SpecializedGetters::getInt;
      case "float" -> (from, i) -> Double.doubleToRawLongBits(from.getFloat(i));
      case "date" -> (from, i) -> from.getInt(i) * MICROS_PER_DAY;
      default ->
        throw new IllegalArgumentException(
            "Values of type " + column.catalogString() + " do not become " + wide);
    };
  }
}
