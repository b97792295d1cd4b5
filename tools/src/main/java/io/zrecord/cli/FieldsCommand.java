package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.table.FieldPlace;
import io.zrecord.table.RecordTable;
import io.zrecord.table.SchemaChange;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Changes the fields of a table. */
@Command(
    name = "fields",
    description = "Changes the fields of a table, without touching the values that are there.",
    subcommands = {
      FieldsCommand.Add.class,
      FieldsCommand.Rename.class,
      FieldsCommand.Promote.class,
      FieldsCommand.Drop.class
    })
final class FieldsCommand extends Subcommand {
  @Override
  public Integer call() {
    throw misuse("Say what to do: add, rename, promote or drop");
  }

  /** Prints the version that a change published. */
  private abstract static class Change extends Subcommand {
    @Parameters(index = "0", paramLabel = "PATH", description = "directory of the table")
    private DatasetLocation path = DatasetLocation.NONE;

    abstract TableSnapshot change(RecordTable table);

    @Override
    public Integer call() {
      TableSnapshot published = change(RecordTable.at(path.storage()));
      out()
          .println("version " + published.version() + " of " + path + " has the fields "
              + String.join(
                  ", ",
                  published.schema().fields().stream().map(FieldSpec::name).toList()));
      out().flush();
      return ExitCodes.DONE;
    }
  }

  /** Adds fields without values. */
  @Command(
      name = "add",
      description = {
        "Adds fields to a table. Each record of the table has the initial value, or none."
      })
  static final class Add extends Change {
    @Option(
        names = "--field",
        required = true,
        paramLabel = "NAME:TYPE[:SHAPE][:CODEC]",
        description = "a field, such as split:utf8; may be repeated")
    private List<String> fields = List.of();

    @Option(
        names = "--initial",
        paramLabel = "FIELD=VALUE",
        description = "the value of the records of the table; never changes")
    private Map<String, String> initial = new LinkedHashMap<>();

    @Option(
        names = "--default",
        paramLabel = "FIELD=VALUE",
        description = "the value of a later record for which a writer sets none")
    private Map<String, String> defaults = new LinkedHashMap<>();

    @Option(names = "--comment", paramLabel = "FIELD=TEXT", description = "a text for people")
    private Map<String, String> comments = new LinkedHashMap<>();

    @Option(
        names = "--not-null",
        paramLabel = "FIELD",
        description = "a field whose values are never absent; needs an initial value")
    private List<String> notNull = List.of();

    @ArgGroup
    private Place place = new Place();

    /** Where the first of the fields comes; the others come after it. */
    private static final class Place {
      @Option(names = "--first", description = "put the fields before all others")
      private boolean isFirst;

      @Option(
          names = "--after",
          paramLabel = "FIELD",
          description = "field of the table after which the fields come")
      private @Nullable String after;

      FieldPlace place() {
        return isFirst
            ? FieldPlace.first()
            : after == null ? FieldPlace.last() : FieldPlace.after(after);
      }
    }

    @Override
    TableSnapshot change(RecordTable table) {
      List<FieldSpec> added = new ArrayList<>();
      for (String text : fields) {
        FieldSpec field = FieldArgument.parse(added.size() + 1, text);
        added.add(field.withRules(rules(field)));
      }
      Set<String> names =
          Set.copyOf(added.stream().map(FieldSpec::name).distinct().toList());
      Stream.of(initial.keySet(), defaults.keySet(), comments.keySet(), Set.copyOf(notNull))
          .flatMap(Set::stream)
          .filter(name -> !names.contains(name))
          .findFirst()
          .ifPresent(name -> {
            throw misuse("Field '" + name + "' is not added; name one of --field");
          });
      SchemaChange change = SchemaChange.of(table.latest());
      FieldPlace next = place.place();
      for (FieldSpec field : added) {
        change.add(field, next);
        next = FieldPlace.after(field.name());
      }
      return change.commit();
    }

    private FieldRules rules(FieldSpec field) {
      String name = field.name();
      FieldRules rules = FieldRules.NONE
          .withNullable(!notNull.contains(name))
          .withComment(comments.getOrDefault(name, ""));
      String first = initial.get(name);
      if (first != null) {
        rules = rules.withInitial(ValueJson.parse(field, first));
      }
      String later = defaults.get(name);
      return later == null ? rules : rules.withWrite(ValueJson.parse(field, later));
    }
  }

  /** Gives a field another name. */
  @Command(name = "rename", description = "Gives a field another name.")
  static final class Rename extends Change {
    @Parameters(index = "1", paramLabel = "FIELD", description = "name of the field")
    private String field = "";

    @Parameters(index = "2", paramLabel = "NAME", description = "the new name")
    private String name = "";

    @Override
    TableSnapshot change(RecordTable table) {
      return table.renameField(field, name);
    }
  }

  /** Gives a field a wider type. */
  @Command(
      name = "promote",
      description = "Gives a field a wider type, such as i64 instead of i32.")
  static final class Promote extends Change {
    @Parameters(index = "1", paramLabel = "FIELD", description = "name of the field")
    private String field = "";

    @Parameters(index = "2", paramLabel = "TYPE", description = "the new type")
    private String type = "";

    @Override
    TableSnapshot change(RecordTable table) {
      return table.promoteField(field, ElementType.parse(type));
    }
  }

  /** Removes a field. */
  @Command(
      name = "drop",
      description = {
        "Removes a field. Earlier versions keep the field.",
        "Its values take space until the shards are written again."
      })
  static final class Drop extends Change {
    @Parameters(index = "1", paramLabel = "FIELD", description = "name of the field")
    private String field = "";

    @Override
    TableSnapshot change(RecordTable table) {
      return table.dropField(field);
    }
  }
}
