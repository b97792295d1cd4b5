package io.zrecord.benchmarks.remote;

/**
 * The least that a question can cost.
 *
 * @param bytes bytes of the values that are asked for
 * @param requests requests for these bytes, if it was known where they are: a range has at most
 *     {@link RemoteSite#RANGE_BYTES}
 */
record Least(long bytes, long requests) {

  /** Returns the cost of values that are beside each other. */
  static Least ofWhole(long bytes) {
    return new Least(bytes, parts(bytes, RemoteSite.RANGE_BYTES));
  }

  /** Returns the number of parts of at most some length. */
  static long parts(long length, long partLength) {
    return (length + partLength - 1) / partLength;
  }

  /** Returns the cost of values that are far from each other. */
  static Least ofScattered(long values, int valueBytes) {
    return new Least(values * valueBytes, values);
  }
}
