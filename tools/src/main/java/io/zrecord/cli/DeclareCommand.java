package io.zrecord.cli;

import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.ExitCodes;
import io.zrecord.cli.console.Subcommand;
import io.zrecord.schema.Identity;
import io.zrecord.schema.OrderField;
import io.zrecord.schema.OrderField.Direction;
import io.zrecord.schema.OrderField.Nulls;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.DeclarationChange;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Changes what a table says of itself. */
@Command(
    name = "declare",
    description = {
      "Changes what a table says of itself: its properties, comment, write order and",
      "identities.",
      "Every later version keeps it. 'info' prints it."
    })
final class DeclareCommand extends Subcommand {
  private static final Pattern INTEGER = Pattern.compile("[+-]?[0-9]+");

  @Parameters(paramLabel = "PATH", description = "directory of the table")
  private DatasetLocation path = DatasetLocation.NONE;

  @Option(names = "--set", paramLabel = "NAME=VALUE", description = "a property; may be repeated")
  private Map<String, String> set = new LinkedHashMap<>();

  @Option(
      names = "--unset",
      paramLabel = "NAME",
      description = "name of a property to remove; may be repeated")
  private List<String> unset = List.of();

  @Option(names = "--comment", paramLabel = "TEXT", description = "text for people; empty for none")
  private @Nullable String comment;

  @Option(
      names = "--order",
      paramLabel = "FIELD[:DIRECTION][:NULLS]",
      description =
          "field by which writers should order records, asc or desc, and where absent values come,"
              + " first or last; may be repeated, the most important first")
  private List<String> order = List.of();

  @Option(names = "--no-order", description = "remove the write order")
  private boolean removesOrder;

  @Option(
      names = "--drop-constraint",
      paramLabel = "NAME",
      description = "name of a constraint to remove; may be repeated")
  private List<String> dropped = List.of();

  @Option(
      names = "--identity",
      paramLabel = "FIELD[:START[:STEP]][:default]",
      description =
          "field whose values the table numbers from START by STEP, 1 by 1 by default; with default,"
              + " a record may bring a value of its own; may be repeated")
  private List<String> identities = List.of();

  @Option(
      names = "--drop-identity",
      paramLabel = "FIELD",
      description = "field whose values the table numbers no more; may be repeated")
  private List<String> droppedIdentities = List.of();

  @Override
  public Integer call() {
    boolean changes = comment != null
        || removesOrder
        || !set.isEmpty()
        || !unset.isEmpty()
        || !order.isEmpty()
        || !dropped.isEmpty()
        || !identities.isEmpty()
        || !droppedIdentities.isEmpty();
    if (!changes || (removesOrder && !order.isEmpty())) {
      throw misuse("Say what to declare: --set, --unset, --comment, --drop-constraint,"
          + " --identity, --drop-identity, and one of --order and --no-order");
    }
    TableSnapshot latest = RecordTable.at(path.storage()).latest();
    latest.requireWritable();
    DeclarationChange change = DeclarationChange.of(latest);
    unset.forEach(change::unset);
    set.forEach(change::set);
    dropped.forEach(change::drop);
    droppedIdentities.forEach(change::dropIdentity);
    identities.forEach(text -> change.add(identity(latest.schema(), text)));
    if (comment != null) {
      change.comment(comment);
    }
    if (removesOrder || !order.isEmpty()) {
      change.writeOrder(order.stream().map(text -> parse(latest.schema(), text)).toList());
    }
    out().println("version " + change.commit().version() + " of " + path + " declares it");
    out().flush();
    return ExitCodes.DONE;
  }

  private OrderField parse(RecordSchema schema, String text) {
    List<String> parts = new ArrayList<>(List.of(text.split(":", -1)));
    Nulls nulls = takeLast(parts, Map.of("first", Nulls.FIRST, "last", Nulls.LAST));
    Direction direction =
        takeLast(parts, Map.of("asc", Direction.ASCENDING, "desc", Direction.DESCENDING));
    Direction wanted = direction == null ? Direction.ASCENDING : direction;
    String name = String.join(":", parts);
    return new OrderField(
        schema.fields().get(schema.ordinal(name)).id(),
        wanted,
        nulls != null ? nulls : wanted == Direction.ASCENDING ? Nulls.FIRST : Nulls.LAST);
  }

  private static Identity identity(RecordSchema schema, String text) {
    List<String> parts = new ArrayList<>(List.of(text.split(":", -1)));
    boolean isByDefault = takeLast(parts, Map.of("default", true)) != null;
    List<Long> numbers = new ArrayList<>();
    while (parts.size() > 1
        && numbers.size() < 2
        && INTEGER.matcher(parts.get(parts.size() - 1)).matches()) {
      numbers.add(0, Long.parseLong(parts.remove(parts.size() - 1)));
    }
    int id = schema.fields().get(schema.ordinal(String.join(":", parts))).id();
    long start = numbers.isEmpty() ? 1 : numbers.get(0);
    long step = numbers.size() < 2 ? 1 : numbers.get(1);
    return isByDefault ? Identity.byDefault(id, start, step) : Identity.always(id, start, step);
  }

  /** Takes the last part away if it is one of some words, and is not all there is. */
  private static <T> @Nullable T takeLast(List<String> parts, Map<String, T> words) {
    T meaning = parts.size() > 1 ? words.get(parts.get(parts.size() - 1)) : null;
    if (meaning != null) {
      parts.remove(parts.size() - 1);
    }
    return meaning;
  }
}
