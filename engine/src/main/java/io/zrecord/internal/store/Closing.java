package io.zrecord.internal.store;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Closes several things: a failure of one does not keep the others open. */
public final class Closing {
  private Closing() {}

  /** Closes all that are there, then throws the first failure with the others suppressed in it. */
  public static void all(List<? extends @Nullable AutoCloseable> resources) {
    RuntimeException failure = null;
    for (AutoCloseable resource : resources) {
      if (resource == null) {
        continue;
      }
      try {
        resource.close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      } catch (Exception e) {
        throw new IllegalStateException("Closing throws unchecked exceptions only", e);
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}
