package io.zrecord.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Finds files of the checkout from whatever module a test runs in. */
public final class Repository {
  private Repository() {}

  /**
   * Returns a file of the checkout.
   *
   * @param name a path from the root of the checkout, such as {@code docs/spec/FORMAT.md}
   */
  public static Path path(String name) {
    Path here = Path.of("").toAbsolutePath();
    for (@Nullable Path folder = here; folder != null; folder = folder.getParent()) {
      if (Files.exists(folder.resolve("mvnw"))) {
        // Relative, so that messages and reports are the same on every machine.
        return here.relativize(folder.resolve(name));
      }
    }
    throw new IllegalStateException(here + " is in no checkout of zrecord");
  }
}
