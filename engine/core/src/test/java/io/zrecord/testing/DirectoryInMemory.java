package io.zrecord.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AnnotatedElementContext;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.io.TempDirFactory;

/**
 * A directory in memory where the system has room for one, for tests that write much or force often
 * and have no use for a medium.
 */
public final class DirectoryInMemory implements TempDirFactory {
  private static final Path SHARED_MEMORY = Path.of("/dev/shm");

  /** For a test of each of three processes that run tests at once. */
  private static final long LEAST_BYTES = 3 * (3L << 30);

  @Override
  public Path createTempDirectory(AnnotatedElementContext element, ExtensionContext context)
      throws IOException {
    return Files.isWritable(SHARED_MEMORY)
            && Files.getFileStore(SHARED_MEMORY).getUsableSpace() >= LEAST_BYTES
        ? Files.createTempDirectory(SHARED_MEMORY, "zrecord")
        : Files.createTempDirectory("zrecord");
  }
}
