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

  /**
   * Does all that has to follow a failure, such as closing and deleting. What fails of that is
   * added to the failure, which the caller throws.
   */
  public static void after(Throwable failure, AutoCloseable... actions) {
    for (AutoCloseable action : actions) {
      try {
        action.close();
      } catch (Exception | Error e) {
        if (e != failure) {
          failure.addSuppressed(e);
        }
      }
    }
  }
}
