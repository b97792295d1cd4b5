package io.zrecord.spark.column;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.MetadataBuilder;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Keeps the type CHAR(n) or VARCHAR(n) of a column of strings in an attribute of the field. Spark
 * checks the lengths and pads CHAR, and the tasks of a write check the lengths again, because Spark
 * does not look at what a stream or a write by path brings. The engine does not read the attribute.
 * Stateless.
 */
public final class StringLengths {
  /** Attribute of a field. */
  static final String ATTRIBUTE = "sql.type";

  /** Metadata of Spark: the type of a column that Spark handles as STRING. */
  private static final String KEY = "__CHAR_VARCHAR_TYPE_STRING";

  private static final Pattern TYPE = Pattern.compile("(?:char|varchar)\\(([1-9][0-9]{0,8})\\)");

  private static final UTF8String BLANK = UTF8String.fromString(" ");

  private StringLengths() {}

  /**
   * Returns a field that keeps the type of its column; another type forgets the one before, and a
   * session whose {@code spark.sql.legacy.charVarcharAsString} is true declares STRING.
   */
  public static FieldSpec kept(FieldSpec field, DataType type) {
    Map<String, String> attributes = new TreeMap<>(field.attributes());
    if (SparkTypes.isLimitedString(type) && !SQLConf.get().charVarcharAsString()) {
      String name = SparkTypes.plainName(type);
      if (!TYPE.matcher(name).matches()) {
        throw new IllegalArgumentException("Cannot keep the type " + name + " of column '"
            + field.name() + "': a length is 1 to 999,999,999; declare string");
      }
      attributes.put(ATTRIBUTE, name);
    } else {
      attributes.remove(ATTRIBUTE);
    }
    return field.withAttributes(attributes);
  }

  /** Returns a field with nothing but its type, which is all that tasks need of attributes. */
  public static FieldSpec only(FieldSpec field) {
    String type = field.attributes().get(ATTRIBUTE);
    return field.withAttributes(type == null ? Map.of() : Map.of(ATTRIBUTE, type));
  }

  /** Notes the type that a field keeps in the metadata of its column, as Spark does. */
  static void put(FieldSpec field, MetadataBuilder metadata) {
    matcher(field).ifPresent(type -> metadata.putString(KEY, type.group()));
  }

  /**
   * Returns a text as SQL stores a value of a field: without blanks beyond the limit, and padded if
   * the type is CHAR.
   *
   * @throws IllegalArgumentException if the text is longer
   */
  public static UnaryOperator<UTF8String> stored(FieldSpec field) {
    Optional<Matcher> type = matcher(field);
    if (type.isEmpty()) {
      return UnaryOperator.identity();
    }
    int most = Integer.parseInt(type.get().group(1));
    boolean isPadded = type.get().group().startsWith("char");
    return text -> stored(field, text, most, isPadded);
  }

  private static UTF8String stored(FieldSpec field, UTF8String text, int most, boolean isPadded) {
    int characters = text.numChars();
    if (characters <= most) {
      return isPadded && characters < most ? text.rpad(most, BLANK) : text;
    }
    if (text.trimRight().numChars() > most) {
      throw new IllegalArgumentException("Cannot write a text of " + characters
          + " characters to the column '" + field.name() + "', which is declared with at most "
          + most + "; shorten the text, or alter the column's type to string");
    }
    return text.substring(0, most);
  }

  /** Returns the most characters of a value of a field; empty if there is no such limit. */
  public static OptionalInt mostCharacters(FieldSpec field) {
    Optional<Matcher> type = matcher(field);
    return type.isPresent()
        ? OptionalInt.of(Integer.parseInt(type.get().group(1)))
        : OptionalInt.empty();
  }

  /** Tells whether all values of a field of strings with a length are values of another type. */
  public static boolean allows(FieldSpec field, DataType type) {
    OptionalInt most = mostCharacters(field);
    if (most.isEmpty() || !SparkTypes.isString(type)) {
      return false;
    }
    String wanted = SparkTypes.plainName(type);
    Matcher limit = TYPE.matcher(wanted);
    return wanted.equals("string")
        || wanted.equals(field.attributes().get(ATTRIBUTE))
        || (limit.matches()
            && wanted.startsWith("varchar")
            && Integer.parseInt(limit.group(1)) >= most.getAsInt());
  }

  /** Finds the type that a field keeps. A manifest, which anybody may have written, may say any. */
  private static Optional<Matcher> matcher(FieldSpec field) {
    return Optional.ofNullable(field.attributes().get(ATTRIBUTE))
        .filter(text -> field.type().kind() == ElementType.Kind.UTF8)
        .map(TYPE::matcher)
        .filter(Matcher::matches);
  }
}
