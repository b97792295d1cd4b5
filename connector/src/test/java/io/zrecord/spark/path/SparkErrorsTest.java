package io.zrecord.spark.path;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.zrecord.errors.ZRecordException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.SparkThrowable;
import org.junit.jupiter.api.Test;

/** The exceptions of Spark are those of the page about errors. */
final class SparkErrorsTest {
  private static final Pattern ROW =
      Pattern.compile("\\| (`.*) \\| `(\\w+)` \\| `([A-Z_]+)` \\| `([0-9A-Z]{5})` \\|");
  private static final Pattern CLASS = Pattern.compile("`(\\w+Exception)`");

  @Test
  void eachExceptionOfThePageHasItsConditionAndState() throws Exception {
    String page = Files.readString(Path.of("..", "docs", "reference", "errors.md"));
    List<MatchResult> rows = ROW.matcher(page).results().toList();
    assertThat(rows).hasSize(10);
    for (MatchResult row : rows) {
      Matcher classes = CLASS.matcher(row.group(1));
      assertThat(classes.find()).isTrue();
      do {
        ZRecordException cause = exception(classes.group(1));
        Throwable found = catchThrowable(() -> SparkErrors.done(() -> {
          throw cause;
        }));
        assertThat(found).as(row.group()).isInstanceOf(SparkThrowable.class).hasCause(cause);
        assertThat(found.getClass().getSimpleName().equals(row.group(2))
                || found.getClass().getSuperclass().getSimpleName().equals(row.group(2)))
            .as(row.group())
            .isTrue();
        assertThat(((SparkThrowable) found).getErrorClass()).isEqualTo(row.group(3));
        assertThat(((SparkThrowable) found).getSqlState()).isEqualTo(row.group(4));
        assertThat(((SparkThrowable) found).isInternalError()).isFalse();
        assertThat(found).hasMessageContaining(row.group(3)).hasMessageContaining("what to do");
      } while (classes.find());
    }
  }

  private static ZRecordException exception(String name) throws ReflectiveOperationException {
    return Class.forName("io.zrecord.errors." + name)
        .asSubclass(ZRecordException.class)
        .getConstructor(String.class, String.class)
        .newInstance("/data/train", "what to do");
  }
}
