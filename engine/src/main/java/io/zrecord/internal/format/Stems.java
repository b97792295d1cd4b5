package io.zrecord.internal.format;

import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** File stems of fields: safe on every file system, whatever the field's name (FORMAT.md section 3). */
public final class Stems {
  private static final Pattern ALLOWED = Pattern.compile("[A-Za-z0-9_-]{1,64}");
  private static final Pattern DEVICE = Pattern.compile("con|prn|aux|nul|meta|com[0-9]|lpt[0-9]");
  private static final String DERIVED = "field-";
  private static final Pattern REWRITTEN =
      Pattern.compile("field-[1-9][0-9]{0,9}-([1-9][0-9]{0,8})");

  private Stems() {}

  /** Stems for fields, in their order. */
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

  /** The stem of a field in a store that was rewritten so often: no field's name can be the same. */
  public static String rewritten(int fieldId, int generation) {
    return DERIVED + fieldId + "-" + generation;
  }

  /** How often a store was rewritten that has a field with this stem. */
  public static int generation(String stem) {
    Matcher matcher = REWRITTEN.matcher(stem);
    return matcher.matches() ? Integer.parseInt(matcher.group(1)) : 0;
  }

  /** Whether a stem found in metadata may be made part of a file name. */
  public static boolean isAllowed(String stem) {
    return ALLOWED.matcher(stem).matches();
  }
}
