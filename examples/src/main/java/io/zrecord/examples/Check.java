package io.zrecord.examples;

import java.util.Objects;

/** What an example shows must be so. Stateless. */
final class Check {
  private Check() {}

  /**
   * Compares and says so.
   *
   * @throws IllegalStateException if they differ, which ends the example with an exit code other
   *     than 0
   */
  static void equal(String what, Object expected, Object found) {
    if (!Objects.equals(expected, found)) {
      throw new IllegalStateException(what + " is " + found + " and should be " + expected);
    }
    System.out.println(what + " = " + found);
  }
}
