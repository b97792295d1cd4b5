package io.zrecord.schema;

import java.io.Serializable;
import java.util.Objects;
import java.util.UUID;

/**
 * Numbers of an identity that one program has reserved, and that nobody else gets. The program may
 * give them to records in any order, each once, or leave them out. Immutable.
 *
 * @param fieldId number of the field
 * @param sequence the series that the numbers are of ({@link Identity#sequence})
 * @param first the first number
 * @param step what the next number is more than the one before
 * @param count how many numbers there are, at least 1
 */
public record IdentityRange(int fieldId, UUID sequence, long first, long step, long count)
    implements Serializable {
  public IdentityRange {
    if (count < 1) {
      throw new IllegalArgumentException(
          "A range of " + count + " numbers is not possible; reserve at least 1");
    }
  }

  /**
   * Returns a number of the range.
   *
   * @param i 0 for the first
   * @throws IndexOutOfBoundsException if {@code i} is not within {@code [0, count)}
   */
  public long valueAt(long i) {
    return first + Objects.checkIndex(i, count) * step;
  }
}
