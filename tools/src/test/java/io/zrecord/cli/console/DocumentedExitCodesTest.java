package io.zrecord.cli.console;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.ReferenceTables;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The table of docs/reference/exit-codes.md. */
class DocumentedExitCodesTest {
  @Test
  void everyExitCodeHasOneRow() throws IllegalAccessException {
    List<String> codes = new ArrayList<>();
    for (Field field : ExitCodes.class.getFields()) {
      codes.add(String.valueOf(field.getInt(null)));
    }
    List<String> documented = ReferenceTables.of("exit-codes").rows("Exit codes").stream()
        .map(row -> row.text(0))
        .toList();
    assertThat(documented).containsExactlyInAnyOrderElementsOf(codes);
  }
}
