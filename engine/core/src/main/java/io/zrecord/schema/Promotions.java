package io.zrecord.schema;

import io.zrecord.schema.ElementType.Kind;
import java.util.List;

/**
 * Tells which types a field may get without its values being written again: readers convert them
 * (FORMAT.md section 7). Stateless.
 */
public final class Promotions {
  private static final List<List<Kind>> CHAINS = List.of(
      List.of(Kind.I8, Kind.I16, Kind.I32, Kind.I64),
      List.of(Kind.U8, Kind.U16, Kind.U32, Kind.U64),
      List.of(Kind.F32, Kind.F64),
      List.of(Kind.DATE, Kind.TIMESTAMP_NTZ),
      List.of(Kind.UTF8, Kind.BYTES));

  private Promotions() {}

  /** Tells whether values of a type can be read as those of another, or as what they are. */
  public static boolean allows(ElementType stored, ElementType wanted) {
    if (stored.equals(wanted)) {
      return true;
    }
    if (stored.kind() == Kind.DECIMAL && wanted.kind() == Kind.DECIMAL) {
      return stored.scale() == wanted.scale() && stored.precision() < wanted.precision();
    }
    return CHAINS.stream()
        .anyMatch(chain -> chain.contains(stored.kind())
            && chain.indexOf(stored.kind()) < chain.indexOf(wanted.kind()));
  }
}
