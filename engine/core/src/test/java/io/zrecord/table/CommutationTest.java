package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.table.Manifest;
import io.zrecord.table.Commutation.Need;
import io.zrecord.table.Commutation.Operation;
import io.zrecord.testing.ReferenceTables;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The page of commits shows the table of what commutes. */
final class CommutationTest {
  /** The columns of the page, from the second on. */
  private static final List<Need> COLUMNS = List.of(
      Need.KEPT_RECORDS,
      Need.KEPT_FIELDS,
      Need.ITS_SHARDS,
      Need.UNCHANGED_RECORDS,
      Need.SAME_RECORDS);

  @Test
  void thePageShowsEveryOperationAndWhatMayFollow() {
    List<String> shown = new ArrayList<>();
    for (ReferenceTables.Row row :
        ReferenceTables.of("../explanation/commits").rows("Two commits at once")) {
      List<String> names = row.names();
      for (String name : names.isEmpty() ? List.of("UNKNOWN") : names) {
        shown.add(name + answers(row));
      }
    }
    List<String> expected = Arrays.stream(Operation.values())
        .flatMap(operation -> names(operation).map(name -> name + answers(operation)))
        .toList();
    assertThat(COLUMNS).containsExactlyInAnyOrder(Need.values());
    assertThat(shown).containsExactlyInAnyOrderElementsOf(expected);
  }

  private static Stream<String> names(Operation operation) {
    return switch (operation) {
      case CARE -> Manifest.CARE.stream();
      case UNKNOWN -> Stream.of("UNKNOWN");
      default -> Stream.of(operation.toString());
    };
  }

  private static List<String> answers(ReferenceTables.Row row) {
    return row.cells().subList(1, row.cells().size());
  }

  private static List<String> answers(Operation operation) {
    return COLUMNS.stream()
        .map(need -> Commutation.mayFollow(need, operation) ? "follows" : "conflict")
        .toList();
  }
}
