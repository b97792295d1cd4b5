package io.zrecord.examples;

import java.util.Objects;

/** Requires what an example shows. Stateless. */
final class Check {
  private Check() {}

  /**
   * Compares two results and prints the comparison.
   *
   * @throws IllegalStateException if the results differ, which ends the example with an exit code
   *     other than 0
   */
  static void equal(String what, Object expected, Object found) {
    if (!Objects.equals(expected, found)) {
      throw new IllegalStateException(what + " is " + found + " and should be " + expected);
    }
    System.out.println(what + " = " + found);
  }
}
