package io.zrecord.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands that change fields. */
final class FieldsCommandTest {
  @TempDir
  Path directory;

  private Path table;

  @BeforeEach
  void write() {
    table = directory.resolve("table");
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(table.toString(), schema, WriteOptions.defaults())) {
      writer.newAppender().set("label", -3).endRecord();
      writer.commit();
    }
  }

  private String json() {
    return Cli.run("get", table, 0, "--as", "json").out();
  }

  @Test
  void fieldsAreAddedWithDefaults() {
    Cli.Said said = Cli.run(
        "fields",
        "add",
        table,
        "--field=split:utf8",
        "--field=point:f32:2",
        "--initial=split=train",
        "--not-null=split",
        "--default=split=test",
        "--comment=split=the part",
        "--initial=point=[1,2.5]");
    assertThat(said.err()).isEmpty();
    assertThat(said.out())
        .isEqualTo("version 1 of " + table + " has the fields label, split, point\n");
    assertThat(json()).contains("\"split\":\"train\"", "\"point\":[1.0,2.5]", "\"label\":-3");
  }

  @Test
  void fieldsComeWhereTheyAreWanted() {
    String has = " of " + table + " has the fields ";
    assertThat(Cli.run("fields", "add", table, "--field=a:i8", "--field=b:i8", "--first")
            .out())
        .isEqualTo("version 1" + has + "a, b, label\n");
    assertThat(Cli.run("fields", "add", table, "--field=c:i8", "--field=d:i8", "--after=a")
            .out())
        .isEqualTo("version 2" + has + "a, c, d, b, label\n");
    assertThat(Cli.run("fields", "add", table, "--field=e:i8", "--after=none").exitCode())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("fields", "add", table, "--field=e:i8", "--after=a", "--first")
            .exitCode())
        .isEqualTo(ExitCodes.USAGE);
    assertThat(json()).contains("\"label\":-3");
  }

  @Test
  void aFieldIsRenamedPromotedAndDropped() {
    assertThat(Cli.run("fields", "rename", table, "label", "class").exitCode()).isZero();
    assertThat(Cli.run("fields", "promote", table, "class", "i64").exitCode()).isZero();
    assertThat(json()).contains("\"class\":-3").doesNotContain("label");
    assertThat(Cli.run("fields", "add", table, "--field=other:i8").exitCode()).isZero();
    assertThat(Cli.run("fields", "drop", table, "class").exitCode()).isZero();
    assertThat(json()).doesNotContain("class");
    assertThat(Cli.run("verify", table).exitCode()).isZero();
  }

  @Test
  void whatIsNotPossibleIsRefused() {
    assertThat(Cli.run("fields", "add", table, "--field=a:i8", "--initial=b=1").err())
        .contains("'b' is not added");
    assertThat(Cli.run("fields", "add", table, "--field=a:i8", "--not-null=a").err())
        .contains("initial default");
    assertThat(Cli.run("fields", "drop", table, "none").exitCode()).isEqualTo(ExitCodes.USAGE);
    assertThat(Cli.run("fields", "promote", table, "label", "f64").err())
        .contains("cannot be read as f64");
    assertThat(Cli.run("fields").exitCode()).isEqualTo(ExitCodes.USAGE);
  }
}
