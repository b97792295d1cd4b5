package io.zrecord.schema;

import java.io.Serializable;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The shape of a value: no dimension for a single element, else a row-major tensor whose first
 * dimension may be variable ({@code -1}). FORMAT.md section 8. Immutable.
 *
 * @param dimensions 0 to 16 dimensions, each ≥ 0; the first may be -1 if none is 0
 */
public record Shape(List<Integer> dimensions) implements Serializable {
  private static final int MAX_RANK = 16;
  private static final Shape SCALAR = new Shape(List.of());

  public Shape {
    dimensions = List.copyOf(dimensions);
    if (dimensions.size() > MAX_RANK) {
      throw new IllegalArgumentException("Shape " + dimensions + " has " + dimensions.size()
          + " dimensions; at most " + MAX_RANK + " are allowed");
    }
    if (!dimensions.isEmpty() && dimensions.get(0) == -1 && dimensions.contains(0)) {
      throw new IllegalArgumentException("Shape " + dimensions
          + " has values without bytes, which do not tell its variable dimension");
    }
    for (int i = 0; i < dimensions.size(); i++) {
      if (dimensions.get(i) < (i == 0 ? -1 : 0)) {
        throw new IllegalArgumentException(
            "Shape " + dimensions + " has dimension " + dimensions.get(i) + " at " + i
                + "; dimensions are >= 0, and only the first may be -1 (variable)");
      }
    }
  }

  /** Returns the shape of a single element. */
  public static Shape scalar() {
    return SCALAR;
  }

  /** Returns the shape with the given dimensions. */
  public static Shape of(int... dimensions) {
    return new Shape(IntStream.of(dimensions).boxed().toList());
  }

  /** Tells whether this shape is that of a single element. */
  public boolean isScalar() {
    return dimensions.isEmpty();
  }

  /** Tells whether the first dimension differs from value to value. */
  public boolean isVariable() {
    return !isScalar() && dimensions.get(0) == -1;
  }

  /**
   * Returns the number of elements of a value; empty if variable.
   *
   * @throws ArithmeticException if the number exceeds 2³¹−1
   */
  public OptionalInt elementCount() {
    return isVariable() ? OptionalInt.empty() : OptionalInt.of(product(0));
  }

  /**
   * Returns the number of elements in one step of the first dimension: the product of the other
   * dimensions.
   */
  public int elementsPerStep() {
    return product(1);
  }

  private int product(int from) {
    int product = 1;
    for (int i = from; i < dimensions.size(); i++) {
      product = Math.multiplyExact(product, dimensions.get(i));
    }
    return product;
  }

  @Override
  public String toString() {
    return dimensions.stream().map(String::valueOf).collect(Collectors.joining(",", "[", "]"));
  }
}
