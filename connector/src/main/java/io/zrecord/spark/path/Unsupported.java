package io.zrecord.spark.path;

/** Makes refusals that several roles share. */
public final class Unsupported {
  private Unsupported() {}

  public static UnsupportedOperationException operation(String what, String remedy) {
    return new UnsupportedOperationException("zrecord does not support " + what + "; " + remedy);
  }
}
