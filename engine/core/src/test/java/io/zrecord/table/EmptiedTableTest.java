package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDataset;
import io.zrecord.findings.Finding;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Shape;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A table all of whose records were deleted. */
final class EmptiedTableTest {
  @Test
  void aTableWithoutRecordsIsATable(@TempDir Path directory) {
    Storage storage = LocalStorage.at(directory);
    RecordTable table = RecordTable.at(storage);
    table.commit(Shards.change(
        TableChange.Kind.CREATE,
        OptionalLong.empty(),
        Shards.SCHEMA,
        List.of(
            Shards.write(storage, Shards.SCHEMA, 1, 2), Shards.write(storage, Shards.SCHEMA, 3))));
    RowChange some = RowChange.of(table.latest());
    some.delete(1);
    some.commit();
    RowChange all = RowChange.of(table.latest());
    all.delete(0);
    all.delete(1);
    TableSnapshot empty = all.commit();
    assertThat(empty.length()).isZero();
    assertThat(empty.shards()).isEmpty();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      assertThat(dataset.length()).isZero();
      assertThat(dataset.gather(new long[0], "value").count()).isZero();
    }
    assertThat(
            RebalancePlan.of(empty, RebalanceOptions.defaults().withAllShards()).groups())
        .isEmpty();
    table.tag(empty.version(), "empty");
    table.addFields(
        List.of(new FieldSpec(1, "other", ElementType.I32, Shape.scalar(), Compression.RAW)));
    table.renameField("value", "number");
    table.commit(Shards.change(
        TableChange.Kind.APPEND,
        OptionalLong.of(table.latest().version()),
        table.latest().schema(),
        List.of(Shards.write(storage, Shards.SCHEMA, 7, 8))));
    assertThat(table.latest().length()).isEqualTo(2);
    assertThat(table.tagged("empty").length()).isZero();
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(directory.toString()).run(findings::add).isSound())
        .isTrue();
    assertThat(findings).isEmpty();
  }
}
