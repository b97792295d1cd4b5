package io.zrecord.schema;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * File stems of fields: safe on every file system, whatever the field's name (FORMAT.md section 3).
 */
public final class FileStems {
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-]{1,64}");
  private static final Pattern DEVICE = Pattern.compile("con|prn|aux|nul|meta|com[0-9]|lpt[0-9]");
  private static final String DERIVED = "field-";
  private static final Pattern REWRITTEN =
      Pattern.compile("field-[1-9][0-9]{0,9}-([1-9][0-9]{0,8})");

  private FileStems() {}

  /** Returns the file stem of each field, in the order of the fields. */
  public static List<String> of(List<FieldSpec> fields) {
    Set<String> taken = new HashSet<>();
    List<String> stems = new ArrayList<>();
    for (FieldSpec field : fields) {
      String folded = field.name().toLowerCase(Locale.ROOT);
      boolean fits = isAllowed(field.name())
          && !folded.startsWith(DERIVED)
          && !DEVICE.matcher(folded).matches()
          && taken.add(folded);
      stems.add(fits ? field.name() : DERIVED + field.id());
    }
    return stems;
  }

  /**
   * Returns the stem of a field in a store after {@code generation} rewrites. No field's name can
   * equal this stem.
   */
  public static String rewritten(int fieldId, int generation) {
    return DERIVED + fieldId + "-" + generation;
  }

  /** Returns how often a store was rewritten, by the stem of one of the store's fields. */
  public static int generation(String stem) {
    Matcher matcher = REWRITTEN.matcher(stem);
    return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
  }

  /** Tells whether a stem found in metadata is safe as part of a file name. */
  public static boolean isAllowed(String stem) {
    return ALLOWED.matcher(stem).matches();
  }
}
