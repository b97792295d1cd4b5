package io.zrecord.npy;

import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.schema.ElementType;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The field type that a NumPy dtype becomes.
 *
 * @param element type of the field
 * @param itemBytes bytes of an element in the file
 * @param swapBytes width of the big-endian numbers whose bytes are reversed; 0 for none
 * @param trailing a dimension that an element adds: 2 for a complex number, its real and imaginary
 *     part
 * @param form how an item becomes a value
 * @param microseconds microseconds in a unit of a date and time
 */
record NpyType(
    ElementType element,
    int itemBytes,
    int swapBytes,
    OptionalInt trailing,
    Form form,
    long microseconds) {

  /** The conversion of an item to a value. */
  enum Form {
    /** The item's bytes are the value. */
    PLAIN,
    /** Bytes; NUL at the end is padding, as in NumPy. */
    BYTES,
    /** UTF-32; NUL at the end is padding. */
    TEXT,
    /** i64 in some unit; the smallest number is "not a time" and becomes an absent value. */
    TIME,
    /** i64 days; the smallest number is "not a time" and becomes an absent value. */
    DATE
  }

  private static final Pattern PLAIN = Pattern.compile("([<>|=])([biufc])(\\d{1,2})");
  private static final Pattern TEXT = Pattern.compile("([<>|])([SaU])(\\d{1,9})");
  private static final Pattern TIME = Pattern.compile("([<>])M8\\[(D|s|ms|us)]");
  private static final int MAX_TEXT_BYTES = 1 << 28;

  static NpyType parse(String path, String description) {
    Matcher plain = PLAIN.matcher(description);
    if (plain.matches()) {
      return plain(plain.group(2) + plain.group(3), isBig(plain.group(1)))
          .orElseThrow(() -> unsupported(path, description));
    }
    Matcher time = TIME.matcher(description);
    if (time.matches()) {
      return time(time.group(2), isBig(time.group(1)));
    }
    Matcher text = TEXT.matcher(description);
    if (text.matches()) {
      boolean isText = text.group(2).equals("U");
      long bytes = Long.parseLong(text.group(3)) * (isText ? 4 : 1);
      if (bytes <= MAX_TEXT_BYTES) {
        return new NpyType(
            isText ? ElementType.UTF8 : ElementType.BYTES,
            (int) bytes,
            isText && isBig(text.group(1)) ? 4 : 0,
            OptionalInt.empty(),
            isText ? Form.TEXT : Form.BYTES,
            0);
      }
    }
    throw unsupported(path, description);
  }

  private static Optional<NpyType> plain(String code, boolean isBig) {
    return switch (code) {
      case "b1" -> number(ElementType.BOOL, false);
      case "i1" -> number(ElementType.I8, false);
      case "u1" -> number(ElementType.U8, false);
      case "i2" -> number(ElementType.I16, isBig);
      case "u2" -> number(ElementType.U16, isBig);
      case "i4" -> number(ElementType.I32, isBig);
      case "u4" -> number(ElementType.U32, isBig);
      case "i8" -> number(ElementType.I64, isBig);
      case "u8" -> number(ElementType.U64, isBig);
      case "f2" -> number(ElementType.F16, isBig);
      case "f4" -> number(ElementType.F32, isBig);
      case "f8" -> number(ElementType.F64, isBig);
      case "c8" -> complex(ElementType.F32, isBig);
      case "c16" -> complex(ElementType.F64, isBig);
      default -> Optional.empty();
    };
  }

  private static Optional<NpyType> number(ElementType type, boolean isBig) {
    int bytes = type.widthBytes().orElseThrow();
    return Optional.of(
        new NpyType(type, bytes, isBig ? bytes : 0, OptionalInt.empty(), Form.PLAIN, 0));
  }

  private static Optional<NpyType> complex(ElementType part, boolean isBig) {
    int bytes = part.widthBytes().orElseThrow();
    return Optional.of(
        new NpyType(part, 2 * bytes, isBig ? bytes : 0, OptionalInt.of(2), Form.PLAIN, 0));
  }

  private static NpyType time(String unit, boolean isBig) {
    boolean isDate = unit.equals("D");
    long microseconds = switch (unit) {
      case "s" -> 1_000_000;
      case "ms" -> 1_000;
      default -> 1;
    };
    return new NpyType(
        isDate ? ElementType.DATE : ElementType.TIMESTAMP_NTZ,
        8,
        isBig ? 8 : 0,
        OptionalInt.empty(),
        isDate ? Form.DATE : Form.TIME,
        microseconds);
  }

  /** Tells whether values are single elements, whatever the array's rank. */
  boolean isSingle() {
    return form != Form.PLAIN;
  }

  /** Returns the dimensions that an element adds to the shape of the field. */
  List<Integer> trailingDimensions() {
    return trailing.isPresent() ? List.of(trailing.getAsInt()) : List.of();
  }

  private static boolean isBig(String order) {
    return order.equals(">");
  }

  private static UnsupportedFormatException unsupported(String path, String description) {
    String shown = description.length() > 60 ? description.substring(0, 60) + "…" : description;
    return new UnsupportedFormatException(
        path,
        "Cannot import " + path + ": dtype '" + shown
            + "' is none of bool, int8 to int64, uint8 to uint64, float16 to float64, complex64, complex128, S, U, "
            + "datetime64[D], [s], [ms] and [us]; convert it with array.astype(...) and save it again");
  }
}
