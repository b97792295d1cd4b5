package io.zrecord.schema;

import java.io.Serializable;
import java.util.HexFormat;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Says what a field requires of its values, and which values it has where none was written
 * (FORMAT.md section 7). Immutable.
 *
 * @param isNullable whether a value may be absent; writers refuse an absent value otherwise
 * @param initialHex the value, as bytes in hexadecimal digits, of all records of shards that lack
 *     the field; null if those are absent. Fixed when the field is added
 * @param writeHex the value that a writer gives to a record for which no value was set; null if
 *     that is absent. A record that is given an absent value keeps it absent
 * @param comment text for people
 * @param defaultSql the declaration, in SQL, of the value that a record has for which no value was
 *     set, 1 to 65,536 UTF-16 units; null if there is none. Beside a {@code write} default, the
 *     text that the value came of. Alone, an expression that is no constant: a writer that cannot
 *     evaluate it refuses to leave the field out
 */
public record FieldRules(
    boolean isNullable,
    @Nullable String initialHex,
    @Nullable String writeHex,
    String comment,
    @Nullable String defaultSql)
    implements Serializable {
  /** Longest default. Every manifest has it. */
  public static final int MAX_DEFAULT_BYTES = 1 << 16;

  private static final int MAX_COMMENT_LENGTH = 1 << 16;

  /** The rules of a field whose values may be absent, without defaults and comment. */
  public static final FieldRules NONE = new FieldRules(true, null, null, "");

  /** Makes rules without the text of a default. */
  public FieldRules(
      boolean isNullable, @Nullable String initialHex, @Nullable String writeHex, String comment) {
    this(isNullable, initialHex, writeHex, comment, null);
  }

  public FieldRules {
    requireHex("initial", initialHex);
    requireHex("write", writeHex);
    if (comment.length() > MAX_COMMENT_LENGTH) {
      throw new IllegalArgumentException("A comment has " + comment.length()
          + " characters; at most " + MAX_COMMENT_LENGTH + " are kept");
    }
    if (defaultSql != null) {
      Declarations.requireText("The text of a default", defaultSql, 1, MAX_COMMENT_LENGTH);
    }
  }

  private static void requireHex(String which, @Nullable String hex) {
    if (hex == null) {
      return;
    }
    if (hex.length() > 2 * MAX_DEFAULT_BYTES) {
      throw new IllegalArgumentException("The " + which + " default has " + hex.length() / 2
          + " bytes; at most " + MAX_DEFAULT_BYTES + " are kept");
    }
    if (!HexFormat.of().formatHex(HexFormat.of().parseHex(hex)).equals(hex)) {
      throw new IllegalArgumentException(
          "The " + which + " default " + hex + " has upper-case digits; write them in lower case");
    }
  }

  /** Returns these rules with another nullability. */
  public FieldRules withNullable(boolean newNullable) {
    return new FieldRules(newNullable, initialHex, writeHex, comment, defaultSql);
  }

  /** Returns these rules with the value of records whose shards lack the field. */
  public FieldRules withInitial(byte[] value) {
    return new FieldRules(
        isNullable, HexFormat.of().formatHex(value), writeHex, comment, defaultSql);
  }

  /**
   * Returns these rules with the value of records for which no value is set. The text of the
   * default is that of another value, and goes.
   */
  public FieldRules withWrite(byte[] value) {
    return new FieldRules(isNullable, initialHex, HexFormat.of().formatHex(value), comment);
  }

  /** Returns these rules without the value of records for which no value is set, and its text. */
  public FieldRules withoutWrite() {
    return new FieldRules(isNullable, initialHex, null, comment);
  }

  /**
   * Returns these rules with the text, in SQL, of the default. Together with a {@code write}
   * default, the text must be that of the value; alone, an expression that is no constant.
   */
  public FieldRules withDefaultSql(String text) {
    return new FieldRules(isNullable, initialHex, writeHex, comment, text);
  }

  /** Returns whether the default is an expression that a writer must evaluate. */
  public boolean hasDefaultExpression() {
    return defaultSql != null && writeHex == null;
  }

  /** Returns these rules with another comment. */
  public FieldRules withComment(String newComment) {
    return new FieldRules(isNullable, initialHex, writeHex, newComment, defaultSql);
  }

  /** Returns what a reader of values needs of these rules. */
  FieldRules forReaders() {
    return initialHex == null ? NONE : new FieldRules(true, initialHex, null, "");
  }

  /** Returns the value of records whose shards lack the field; empty if it is absent. */
  public Optional<byte[]> initial() {
    return Optional.ofNullable(initialHex).map(HexFormat.of()::parseHex);
  }

  /** Returns the value of records for which no value is set; empty if it is absent. */
  public Optional<byte[]> write() {
    return Optional.ofNullable(writeHex).map(HexFormat.of()::parseHex);
  }
}
