package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.DeclarationChange;
import io.zrecord.table.RecordTable;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command that changes declarations, and the one that shows them. */
final class DeclareCommandTest {
  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("a:desc", ElementType.I32)
        .build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("label", -3).endRecord();
      writer.commit();
    }
  }

  private String info(Object... more) {
    return Cli.run("info", table, more.length > 0 ? more[0] : "--chunks").out();
  }

  @Test
  void whatIsDeclaredIsShown() {
    assertThat(info()).doesNotContain("property", "comment", "write order");
    Cli.Said said = Cli.run(
        "declare",
        table,
        "--set=owner=the team",
        "--set=zrecord.isolation=snapshot",
        "--comment=two\nlines",
        "--order=label:desc",
        "--order=a:desc:asc:last");
    assertThat(said.err()).isEmpty();
    assertThat(said.out()).isEqualTo("version 1 of " + table + " declares it\n");
    assertThat(info())
        .contains(
            "property owner: the team\n",
            "property zrecord.isolation: snapshot\n",
            "write order: label descending, nulls last; a:desc ascending, nulls last\n")
        .doesNotContain("two\nlines");
    assertThat(info("--json"))
        .contains(
            "\"properties\":{\"owner\":\"the team\"",
            "\"writeOrder\":[{\"field\":1,\"direction\":\"descending\",\"nulls\":\"last\"}");
    assertThat(Cli.run("declare", table, "--unset=owner", "--comment=", "--no-order")
            .exitCode())
        .isZero();
    assertThat(info()).doesNotContain("owner", "comment", "write order").contains("isolation");
  }

  @Test
  void constraintsAreShownAndDropped() {
    RecordTable opened = RecordTable.at(LocalStorage.at(table));
    DeclarationChange.of(opened.latest())
        .add(Constraint.check("small", "label < 0", List.of(1)))
        .add(Constraint.primaryKey("pk", List.of(1, 2)))
        .add(Constraint.unique("uq", List.of(1)))
        .add(Constraint.foreignKey(
            "fk", List.of(1), new Constraint.Reference("db.t", List.of("id"))))
        .commit();
    assertThat(info())
        .contains(
            "constraint small: CHECK (label < 0) enforced\n",
            "constraint pk: PRIMARY KEY (label, a:desc) not enforced\n",
            "constraint uq: UNIQUE (label) not enforced\n",
            "constraint fk: FOREIGN KEY (label) REFERENCES db.t (id) not enforced\n");
    assertThat(info("--json")).contains("\"sql\":\"label < 0\"", "\"columns\":[\"id\"]");
    Cli.Said update = Cli.run("update", table, "0", "--set=label=3");
    assertThat(update.exitCode()).isNotZero();
    assertThat(update.err()).contains("constraint 'small'", "or drop the constraint");
    assertThat(Cli.run("declare", table, "--drop-constraint=small").exitCode()).isZero();
    assertThat(info()).doesNotContain("small");
    assertThat(Cli.run("update", table, "0", "--set=label=3").exitCode()).isZero();
    assertThat(Cli.run("verify", table).exitCode()).isZero();
  }

  @Test
  void whatIsNotPossibleIsRefused() {
    assertThat(Cli.run("declare", table).exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("declare", table, "--order=label", "--no-order").exitCode())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("declare", table, "--order=none").err()).contains("'none'");
    assertThat(Cli.run("declare", table, "--set=zrecord.isolation=none").err())
        .contains("serializable, snapshot");
    assertThat(Cli.run("declare", table, "--set=zrecord.none=1").err()).contains("are reserved");
    assertThat(Cli.run("declare", table, "--drop-constraint=none").exitCode())
        .isEqualTo(ExitCodes.USAGE);
  }
}
