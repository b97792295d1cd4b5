package io.zrecord.spark.options;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One of the columns by which the rows of a write are sorted. Immutable.
 *
 * @param column name of the column
 * @param isDescending whether the greatest value comes first
 * @param isNullFirst whether absent values come before all others
 */
public record SortKey(String column, boolean isDescending, boolean isNullFirst) {
  private static final String NAME = "(?:`((?:[^`]|``)+)`|([^\\s,`]+))";

  private static final Pattern KEY = Pattern.compile(
      "\\s*" + NAME + "(?:\\s+(asc|desc))?(?:\\s+nulls\\s+(first|last))?\\s*(,|$)",
      Pattern.CASE_INSENSITIVE);

  /**
   * Parses what follows {@code ORDER BY} in SQL, such as {@code label, score desc nulls last}. As
   * there, absent values come first if the least value does.
   *
   * @throws IllegalArgumentException if the text has another form, or names a column twice
   */
  public static List<SortKey> parse(String text) {
    List<SortKey> keys = new ArrayList<>();
    Matcher matcher = KEY.matcher(text);
    int at = 0;
    boolean isMore = true;
    while (isMore) {
      if (!matcher.find(at) || matcher.start() != at) {
        throw new IllegalArgumentException(
            "use columns with or without asc or desc, and nulls first"
                + " or nulls last, such as label, `a b` desc nulls last");
      }
      SortKey key = of(matcher);
      if (keys.stream().anyMatch(other -> other.column.equalsIgnoreCase(key.column))) {
        throw new IllegalArgumentException("name '" + key.column + "' once");
      }
      keys.add(key);
      at = matcher.end();
      isMore = matcher.group(5).equals(",");
    }
    return List.copyOf(keys);
  }

  private static SortKey of(Matcher matcher) {
    String quoted = matcher.group(1);
    boolean isDescending = "desc".equalsIgnoreCase(matcher.group(3));
    String nulls = matcher.group(4);
    return new SortKey(
        quoted == null ? matcher.group(2) : quoted.replace("``", "`"),
        isDescending,
        nulls == null ? !isDescending : nulls.equalsIgnoreCase("first"));
  }

  /** Returns keys as text that {@link #parse} takes. */
  public static String text(List<SortKey> keys) {
    return String.join(", ", keys.stream().map(SortKey::text).toList());
  }

  private String text() {
    return "`" + column.replace("`", "``") + "` " + (isDescending ? "desc" : "asc") + " nulls "
        + (isNullFirst ? "first" : "last");
  }

  /** Returns the same key of another column. */
  public SortKey of(String name) {
    return new SortKey(name, isDescending, isNullFirst);
  }
}
