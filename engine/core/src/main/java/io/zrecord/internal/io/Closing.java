package io.zrecord.internal.io;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** Closes several resources. A failure to close one does not keep the others open. */
public final class Closing {
  private Closing() {}

  /**
   * Closes all resources that are not null, then throws the first failure with the others
   * suppressed.
   */
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
