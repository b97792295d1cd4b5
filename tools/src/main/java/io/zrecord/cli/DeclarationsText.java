package io.zrecord.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.cli.console.Printable;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.OrderField;
import io.zrecord.schema.RecordSchema;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** Shows what a table says of itself. */
final class DeclarationsText {
  private DeclarationsText() {}

  /** Gives lines for people, none if nothing is declared. */
  static void print(Declarations declarations, RecordSchema schema, Consumer<String> line) {
    if (!declarations.comment().isEmpty()) {
      line.accept("comment: " + Printable.of(declarations.comment()));
    }
    declarations
        .properties()
        .forEach((key, value) ->
            line.accept("property " + Printable.of(key) + ": " + Printable.of(value)));
    if (!declarations.writeOrder().isEmpty()) {
      line.accept("write order: "
          + declarations.writeOrder().stream()
              .map(field -> name(schema, field.fieldId()) + " " + field.direction() + ", nulls "
                  + field.nulls())
              .collect(Collectors.joining("; ")));
    }
    for (Constraint constraint : declarations.constraints()) {
      line.accept(
          "constraint " + Printable.of(constraint.name()) + ": " + text(constraint, schema));
    }
    for (Identity identity : declarations.identities()) {
      line.accept("identity of " + name(schema, identity.fieldId()) + ": "
          + (isAlways(identity) ? "always" : "by default") + ", from " + identity.start() + " by "
          + identity.step() + ", next " + identity.next());
    }
  }

  private static boolean isAlways(Identity identity) {
    return identity.generation() == Identity.Generation.ALWAYS;
  }

  private static String text(Constraint constraint, RecordSchema schema) {
    String text = switch (constraint.kind()) {
      case CHECK -> "CHECK (" + Printable.of(constraint.sql()) + ")";
      case PRIMARY_KEY -> "PRIMARY KEY " + names(schema, constraint);
      case UNIQUE -> "UNIQUE " + names(schema, constraint);
      case FOREIGN_KEY ->
        "FOREIGN KEY " + names(schema, constraint) + " REFERENCES "
            + constraint
                .references()
                .map(other -> Printable.of(other.table())
                    + (other.columns().isEmpty()
                        ? ""
                        : " (" + Printable.of(String.join(", ", other.columns())) + ")"))
                .orElse("");
    };
    return text + (constraint.isEnforced() ? " enforced" : " not enforced");
  }

  private static String names(RecordSchema schema, Constraint constraint) {
    return constraint.fieldIds().stream()
        .map(id -> name(schema, id))
        .collect(Collectors.joining(", ", "(", ")"));
  }

  private static String name(RecordSchema schema, int id) {
    return Printable.of(schema.find(id).map(field -> field.name()).orElse("field " + id));
  }

  /** Adds a member for programs, if something is declared. */
  static void add(ObjectNode node, Declarations declarations) {
    if (declarations.equals(Declarations.NONE)) {
      return;
    }
    ObjectNode shown = node.putObject("declarations").put("comment", declarations.comment());
    ObjectNode properties = shown.putObject("properties");
    declarations.properties().forEach(properties::put);
    ArrayNode order = shown.putArray("writeOrder");
    for (OrderField field : declarations.writeOrder()) {
      order
          .addObject()
          .put("field", field.fieldId())
          .put("direction", field.direction().toString())
          .put("nulls", field.nulls().toString());
    }
    ArrayNode constraints = shown.putArray("constraints");
    declarations.constraints().forEach(constraint -> add(constraints.addObject(), constraint));
    ArrayNode identities = shown.putArray("identities");
    for (Identity identity : declarations.identities()) {
      identities
          .addObject()
          .put("field", identity.fieldId())
          .put("sequence", identity.sequence().toString())
          .put("start", identity.start())
          .put("step", identity.step())
          .put("next", identity.next())
          .put("explicit", !isAlways(identity));
    }
  }

  private static void add(ObjectNode node, Constraint constraint) {
    node.put("name", constraint.name())
        .put("kind", constraint.kind().toString())
        .put("enforced", constraint.isEnforced());
    constraint.fieldIds().forEach(node.putArray("fields")::add);
    if (constraint.kind() == Constraint.Kind.CHECK) {
      node.put("sql", constraint.sql());
    }
    constraint.references().ifPresent(other -> {
      List<String> columns = other.columns();
      columns.forEach(
          node.putObject("references").put("table", other.table()).putArray("columns")::add);
    });
  }
}
