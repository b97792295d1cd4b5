package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.storage.Storage;
import io.zrecord.testing.MemoryStorage;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Row changes planned on a version whose number another commit has by now. */
final class GivenUpBaseTest {
  private final Storage storage = new MemoryStorage();
  private final RecordTable table = RecordTable.at(storage);

  @BeforeEach
  void create() {
    table.commit(Shards.change(
        TableChange.Kind.CREATE,
        OptionalLong.empty(),
        Shards.SCHEMA,
        List.of(Shards.write(storage, Shards.SCHEMA, 1, 2, 3))));
  }

  private static FieldSpec field(String name) {
    return new FieldSpec(1, name, ElementType.I32, Shape.scalar(), Compression.RAW);
  }

  @Test
  void anUpdateIsNotThatOfAnotherFieldWithTheNumber() {
    RowChange change = RowChange.of(table.addFields(List.of(field("score"))));
    change.update(0, "score", 5);
    storage.delete("manifest/00000000000000000001.json");
    storage.delete("manifest/latest");
    TableSnapshot other = table.addFields(List.of(field("price")));
    assertThat(other.version()).isEqualTo(1);
    assertThat(other.schema().fields().get(1).id()).isEqualTo(2);
    assertThatThrownBy(change::commit).isInstanceOf(CommitConflictException.class);
    assertThat(table.latest().version()).isEqualTo(1);
  }

  @Test
  void anUpdateFollowsARename() {
    RowChange change = RowChange.of(table.latest());
    change.update(0, "value", 5L);
    table.renameField("value", "number");
    assertThat(change.commit().version()).isEqualTo(2);
  }
}
