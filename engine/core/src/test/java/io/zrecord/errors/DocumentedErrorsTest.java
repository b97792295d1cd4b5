package io.zrecord.errors;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.ReferenceTables;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The table of errors in docs/reference/errors.md. */
class DocumentedErrorsTest {
  @Test
  void everyErrorHasOneRow() throws IOException, URISyntaxException {
    assertThat(documented()).doesNotHaveDuplicates().containsExactlyInAnyOrderElementsOf(errors());
  }

  private static List<String> documented() {
    return ReferenceTables.of("errors").rows("Java and Spark").stream()
        .map(ReferenceTables.Row::name)
        .toList();
  }

  /** Lists the classes that were compiled beside the base of all errors. */
  private static List<String> errors() throws IOException, URISyntaxException {
    Path classes = Path.of(ZRecordException.class
        .getProtectionDomain()
        .getCodeSource()
        .getLocation()
        .toURI());
    try (Stream<Path> files = Files.list(classes.resolve("io/zrecord/errors"))) {
      return files
          .map(file -> file.getFileName().toString().replace(".class", ""))
          .filter(DocumentedErrorsTest::isError)
          .toList();
    }
  }

  private static boolean isError(String name) {
    try {
      return ZRecordException.class.isAssignableFrom(Class.forName("io.zrecord.errors." + name));
    } catch (ClassNotFoundException e) {
      throw new AssertionError("A class without a name of its own: " + name, e);
    }
  }
}
