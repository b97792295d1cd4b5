package io.zrecord.internal.format;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.OrderField;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/** Reads and writes the member {@code declarations} of manifests (FORMAT.md section 7.12). */
public final class DeclarationsJson {
  /** Name of the member. */
  public static final String MEMBER = "declarations";

  private static final Set<String> MEMBERS =
      Set.of("comment", "properties", "writeOrder", "constraints", "identities");
  private static final Set<String> CONSTRAINT_MEMBERS =
      Set.of("name", "kind", "fields", "sql", "references", "enforced");
  private static final Set<String> IDENTITY_MEMBERS =
      Set.of("field", "sequence", "start", "step", "next", "explicit");

  private DeclarationsJson() {}

  /**
   * What declarations say beyond this release.
   *
   * @param members unknown members, as JSON
   * @param ofConstraints unknown members of constraints, as JSON, by the name of the constraint
   * @param ofIdentities unknown members of identities, as JSON, by the number of the field
   */
  public record Unknown(
      String members, Map<String, String> ofConstraints, Map<Integer, String> ofIdentities) {
    /** Nothing. */
    public static final Unknown NOTHING = new Unknown("", Map.of(), Map.of());

    /** Reads what the declarations of a manifest say beyond this release. */
    public static Unknown of(JsonObject manifest) {
      if (!manifest.has(MEMBER)) {
        return NOTHING;
      }
      JsonObject json = manifest.object(MEMBER);
      Map<String, String> ofConstraints = new TreeMap<>();
      for (JsonObject constraint : objects(json, "constraints")) {
        String name = constraint.string("name");
        String unknown = constraint.unknown(CONSTRAINT_MEMBERS);
        if (!unknown.isEmpty()) {
          ofConstraints.put(name, unknown);
        }
      }
      Map<Integer, String> ofIdentities = new TreeMap<>();
      for (JsonObject identity : objects(json, "identities")) {
        String unknown = identity.unknown(IDENTITY_MEMBERS);
        if (!unknown.isEmpty()) {
          ofIdentities.put((int) identity.integer("field", 1, Integer.MAX_VALUE), unknown);
        }
      }
      return new Unknown(json.unknown(MEMBERS), ofConstraints, ofIdentities);
    }
  }

  /** Adds declarations to a manifest, with what they said beyond this release. */
  public static void write(ObjectNode manifest, Declarations declarations, Unknown unknown) {
    ObjectNode node = SealedJson.object();
    if (!declarations.comment().isEmpty()) {
      node.put("comment", declarations.comment());
    }
    if (!declarations.properties().isEmpty()) {
      ObjectNode properties = node.putObject("properties");
      declarations.properties().forEach(properties::put);
    }
    if (!declarations.writeOrder().isEmpty()) {
      ArrayNode order = node.putArray("writeOrder");
      declarations
          .writeOrder()
          .forEach(field -> order
              .addObject()
              .put("field", field.fieldId())
              .put("direction", field.direction().toString())
              .put("nulls", field.nulls().toString()));
    }
    if (!declarations.constraints().isEmpty()) {
      ArrayNode constraints = node.putArray("constraints");
      declarations
          .constraints()
          .forEach(constraint -> constraints.add(JsonObject.withMembers(
              write(constraint), unknown.ofConstraints.getOrDefault(constraint.name(), ""))));
    }
    if (!declarations.identities().isEmpty()) {
      ArrayNode identities = node.putArray("identities");
      declarations
          .identities()
          .forEach(identity -> identities.add(JsonObject.withMembers(
              write(identity), unknown.ofIdentities.getOrDefault(identity.fieldId(), ""))));
    }
    JsonObject.withMembers(node, unknown.members);
    if (!node.isEmpty()) {
      manifest.set(MEMBER, node);
    }
  }

  private static ObjectNode write(Constraint constraint) {
    ObjectNode node = SealedJson.object()
        .put("name", constraint.name())
        .put("kind", constraint.kind().toString());
    ArrayNode fields = node.putArray("fields");
    constraint.fieldIds().forEach(fields::add);
    if (constraint.kind() == Constraint.Kind.CHECK) {
      node.put("sql", constraint.sql());
    }
    constraint.references().ifPresent(other -> {
      ObjectNode references = node.putObject("references").put("table", other.table());
      ArrayNode columns = references.putArray("columns");
      other.columns().forEach(columns::add);
    });
    if (constraint.isEnforced()) {
      node.put("enforced", true);
    }
    return node;
  }

  private static ObjectNode write(Identity identity) {
    ObjectNode node = SealedJson.object()
        .put("field", identity.fieldId())
        .put("sequence", identity.sequence().toString())
        .put("start", identity.start())
        .put("step", identity.step())
        .put("next", identity.next());
    if (identity.generation() == Identity.Generation.BY_DEFAULT) {
      node.put("explicit", true);
    }
    return node;
  }

  /**
   * Reads the declarations of a manifest. Leaves a constraint out whose kind is unknown, and a
   * write order that is not known whole.
   */
  public static Declarations read(JsonObject manifest) {
    if (!manifest.has(MEMBER)) {
      return Declarations.NONE;
    }
    JsonObject json = manifest.object(MEMBER);
    List<JsonObject> order = objects(json, "writeOrder");
    boolean isOrderKnown = order.stream().allMatch(field -> unknownOrder(field).isEmpty());
    try {
      return new Declarations(
          json.has("comment") ? json.string("comment") : "",
          json.strings("properties"),
          isOrderKnown ? order.stream().map(DeclarationsJson::readOrder).toList() : List.of(),
          objects(json, "constraints").stream()
              .filter(constraint -> kind(constraint).isPresent())
              .map(DeclarationsJson::readConstraint)
              .toList(),
          objects(json, "identities").stream()
              .map(DeclarationsJson::readIdentity)
              .toList());
    } catch (IllegalArgumentException e) {
      throw json.corrupt("its declarations are invalid: " + e.getMessage());
    }
  }

  private static OrderField readOrder(JsonObject json) {
    return new OrderField(
        (int) json.integer("field", 1, Integer.MAX_VALUE),
        find(OrderField.Direction.values(), json.string("direction")).orElseThrow(),
        find(OrderField.Nulls.values(), json.string("nulls")).orElseThrow());
  }

  private static Constraint readConstraint(JsonObject json) {
    Constraint.Kind kind = kind(json).orElseThrow();
    if (json.has("sql") != (kind == Constraint.Kind.CHECK)) {
      throw json.corrupt("a constraint of kind " + kind + " has a text if it is a check only");
    }
    Optional<Constraint.Reference> references = Optional.empty();
    if (json.has("references")) {
      JsonObject other = json.object("references");
      references =
          Optional.of(new Constraint.Reference(other.string("table"), other.texts("columns")));
    }
    return new Constraint(
        json.string("name"),
        kind,
        json.integers("fields", 1, Integer.MAX_VALUE),
        json.has("sql") ? json.string("sql") : "",
        references,
        json.flag("enforced", false));
  }

  private static Identity readIdentity(JsonObject json) {
    return new Identity(
        (int) json.integer("field", 1, Integer.MAX_VALUE),
        json.uuid("sequence"),
        json.flag("explicit", false) ? Identity.Generation.BY_DEFAULT : Identity.Generation.ALWAYS,
        json.integer("start", Long.MIN_VALUE, Long.MAX_VALUE),
        json.integer("step", Long.MIN_VALUE, Long.MAX_VALUE),
        json.integer("next", Long.MIN_VALUE, Long.MAX_VALUE));
  }

  /** Returns what the declarations of a manifest use that this release does not know. */
  static Optional<String> unknown(JsonObject manifest) {
    if (!manifest.has(MEMBER)) {
      return Optional.empty();
    }
    JsonObject json = manifest.object(MEMBER);
    for (JsonObject constraint : objects(json, "constraints")) {
      if (kind(constraint).isEmpty()) {
        return Optional.of("constraint " + shown(constraint.string("kind")));
      }
    }
    return objects(json, "writeOrder").stream()
        .flatMap(field -> unknownOrder(field).stream())
        .findFirst();
  }

  private static Optional<String> unknownOrder(JsonObject field) {
    String direction = field.string("direction");
    String nulls = field.string("nulls");
    if (find(OrderField.Direction.values(), direction).isEmpty()) {
      return Optional.of("direction " + shown(direction));
    }
    return find(OrderField.Nulls.values(), nulls).isEmpty()
        ? Optional.of("nulls " + shown(nulls))
        : Optional.empty();
  }

  private static String shown(String value) {
    return value.length() > 64 ? value.substring(0, 64) + "…" : value;
  }

  private static Optional<Constraint.Kind> kind(JsonObject constraint) {
    return find(Constraint.Kind.values(), constraint.string("kind"));
  }

  private static <T> Optional<T> find(T[] values, String text) {
    return Arrays.stream(values).filter(value -> value.toString().equals(text)).findFirst();
  }

  private static List<JsonObject> objects(JsonObject json, String member) {
    return json.has(member) ? json.objects(member) : List.of();
  }
}
