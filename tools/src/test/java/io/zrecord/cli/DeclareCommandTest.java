package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.Compression;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.DeclarationChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
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
  void identitiesAreDeclaredShownAndDropped() {
    Path numbered = directory.resolve("numbered");
    RecordSchema schema = new RecordSchema(List.of(
        number(1, "id"),
        number(2, "a:7"),
        new FieldSpec(3, "text", ElementType.UTF8, Shape.scalar(), Compression.RAW)));
    RecordTable opened = RecordTable.at(LocalStorage.at(numbered));
    opened.commit(TableChange.of(TableChange.Kind.CREATE, schema).build());
    Cli.Said said = Cli.run("declare", numbered, "--identity=id", "--identity=a:7:-100:-5:default");
    assertThat(said.err()).isEmpty();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(numbered.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("text", "x").endRecord();
      writer.commit();
    }
    assertThat(Cli.run("info", numbered).out())
        .contains(
            "identity of id: always, from 1 by 1, next 1025\n",
            "identity of a:7: by default, from -100 by -5, next -5220\n");
    assertThat(Cli.run("info", numbered, "--json").out())
        .contains("\"start\":-100,\"step\":-5,\"next\":-5220,\"explicit\":true");
    Cli.Said update = Cli.run("update", numbered, "0", "--set=id=3");
    assertThat(update.exitCode()).isNotZero();
    assertThat(update.err()).contains("field 'id' is always generated");
    assertThat(Cli.run("update", numbered, "0", "--set=a:7=3").exitCode()).isZero();
    assertThat(Cli.run("fields", "drop", numbered, "id").err()).contains("an identity names it");
    assertThat(Cli.run("declare", numbered, "--drop-identity=id", "--identity=a:7:50:1")
            .exitCode())
        .isZero();
    assertThat(Cli.run("info", numbered).out())
        .doesNotContain("identity of id")
        .contains("identity of a:7: always, from 50 by 1, next 50\n");
    assertThat(Cli.run("declare", numbered, "--drop-identity=id").err())
        .contains("Field 'id'", "has no identity");
    assertThat(Cli.run("declare", numbered, "--identity=id:1:0").err()).contains("a step of 0");
    assertThat(Cli.run("declare", numbered, "--identity=id:9223372036854775808").err())
        .contains("9223372036854775808");
    assertThat(Cli.run("declare", numbered, "--identity=text").err())
        .contains("field 'text' cannot have an identity");
    assertThat(Cli.run("verify", numbered).exitCode()).isZero();
  }

  private static FieldSpec number(int id, String name) {
    return new FieldSpec(id, name, ElementType.I64, Shape.scalar(), Compression.RAW)
        .withRules(FieldRules.NONE.withNullable(false));
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
