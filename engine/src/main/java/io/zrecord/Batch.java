package io.zrecord;

import java.nio.ByteBuffer;
import java.util.List;

/** SKELETON: what a gather returned; values in the order asked. Use after close is BatchReleasedException. */
public final class Batch implements AutoCloseable {
  public int count() {
    return 0;
  }

  public List<String> fields() {
    return List.of();
  }

  public boolean isAbsent(String field, int i) {
    return false;
  }

  /** Read-only view, zero copy for raw values; null semantics: IllegalStateException if absent. */
  public ByteBuffer value(String field, int i) {
    throw new UnsupportedOperationException();
  }

  public byte[] bytes(String field, int i) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
