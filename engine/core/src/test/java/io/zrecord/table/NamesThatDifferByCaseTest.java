package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** An append adds no field whose name another field got meanwhile, but for its case. */
final class NamesThatDifferByCaseTest {
  private final MemoryStorage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);
  private final TableSnapshot base =
      table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2)));

  /** Returns an append that was planned on a version, and adds a field to its fields. */
  private TableChange adding(TableSnapshot version, String name) {
    List<FieldSpec> fields = new ArrayList<>(version.schema().fields());
    fields.add(fields.get(0).withName(name).withId(version.nextFieldId()));
    RecordSchema schema = new RecordSchema(fields);
    return Shards.change(
        TableChange.Kind.APPEND,
        OptionalLong.of(version.version()),
        schema,
        List.of(Shards.write(storage, Shards.SCHEMA, 3)));
  }

  private List<String> names() {
    return table.latest().schema().fields().stream().map(FieldSpec::name).toList();
  }

  @Test
  void anAppendConflictsWithARenameSince() {
    TableChange append = adding(base, "label");
    SchemaChange.of(base).rename("value", "Label").commit();
    assertThatThrownBy(() -> table.commit(append))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("'label'")
        .hasMessageContaining("'Label'");
    assertThat(names()).containsExactly("Label");
  }

  @Test
  void anAppendFollowsARenameToAnotherName() {
    TableChange append = adding(base, "label");
    SchemaChange.of(base).rename("value", "labels").commit();
    table.commit(append);
    assertThat(names()).containsExactly("labels", "label");
  }

  @Test
  void namesThatWereThereMayDifferByCase() {
    TableChange append = adding(base, "Value");
    SchemaChange.of(base).declare(change -> change.comment("numbers")).commit();
    table.commit(append);
    assertThat(names()).containsExactly("value", "Value");
  }
}
