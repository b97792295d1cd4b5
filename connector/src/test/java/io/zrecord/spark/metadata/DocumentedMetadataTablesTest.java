package io.zrecord.spark.metadata;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.options.ViewName;
import io.zrecord.testing.ReferenceTables;
import io.zrecord.testing.ReferenceTables.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The tables of docs/reference/metadata-tables.md. */
class DocumentedMetadataTablesTest {
  private static final Pattern COLUMN_OR_GROUP = Pattern.compile("`([^`]*)`|\\*([^*]*)\\*");

  @Test
  void everyMetadataTableHasOneRowWithItsColumns() {
    Map<String, List<String>> groups = new HashMap<>();
    Map<String, List<String>> tables = new HashMap<>();
    List<String> names = new ArrayList<>();
    for (Row row : ReferenceTables.of("metadata-tables").rows("Names and columns")) {
      if (row.names().isEmpty()) {
        groups.put(row.cells().get(0).replace("*", ""), row.code(1));
      } else {
        names.add(row.name());
        tables.put(row.name(), columnsAndGroups(row.cells().get(2)));
      }
    }
    assertThat(names)
        .containsExactlyInAnyOrderElementsOf(
            Arrays.stream(ViewName.values()).map(ViewName::toString).toList());
    RecordSchema schema = RecordSchema.builder().field("day", ElementType.DATE).build();
    MetadataRows partitioned = new MetadataRows(schema, schema.fields());
    for (ViewName view : ViewName.values()) {
      List<String> columns = new ArrayList<>();
      tables
          .get(view.toString())
          .forEach(name -> columns.addAll(groups.getOrDefault(name, List.of(name))));
      assertThat(partitioned.columns(view).fieldNames())
          .as("columns of %s", view)
          .containsExactly(columns.toArray(String[]::new));
    }
  }

  private static List<String> columnsAndGroups(String cell) {
    List<String> found = new ArrayList<>();
    Matcher matcher = COLUMN_OR_GROUP.matcher(cell);
    while (matcher.find()) {
      found.add(matcher.group(1) != null ? matcher.group(1) : matcher.group(2));
    }
    return found;
  }
}
