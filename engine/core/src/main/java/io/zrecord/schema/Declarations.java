package io.zrecord.schema;

import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * What a table says of itself, beside its fields: each version has the declarations of the version
 * before, unless a commit changes them (FORMAT.md section 7.12). All texts together have at most
 * 2²⁰ UTF-16 units, because each manifest has them. Immutable.
 *
 * @param comment text for people, at most 65,536 UTF-16 units; empty for none
 * @param properties at most 1,000 strings by names of 1 to 1,024 units; a value has at most 65,536
 * @param writeOrder the fields by which writers should order records, the most important first
 * @param constraints at most 1,000, of different names
 * @param identities fields whose values the table numbers, at most 1,000, of different fields
 */
public record Declarations(
    String comment,
    Map<String, String> properties,
    List<OrderField> writeOrder,
    List<Constraint> constraints,
    List<Identity> identities) {
  static final int MAX_TEXT_LENGTH = 1 << 16;
  static final int MAX_NAME_LENGTH = 1024;
  private static final int MAX_COUNT = 1000;
  private static final int MAX_LENGTH = 1 << 20;

  /** The declarations of a table that says nothing of itself. */
  public static final Declarations NONE =
      new Declarations("", Map.of(), List.of(), List.of(), List.of());

  public Declarations {
    properties = Collections.unmodifiableMap(new TreeMap<>(properties));
    writeOrder = List.copyOf(writeOrder);
    constraints = List.copyOf(constraints);
    identities = List.copyOf(identities);
    requireText("The comment of a table", comment, 0, MAX_TEXT_LENGTH);
    properties.forEach((key, value) -> {
      requireText("The name of a table property", key, 1, MAX_NAME_LENGTH);
      requireText("Table property '" + key + "'", value, 0, MAX_TEXT_LENGTH);
    });
    requireIds("The write order", writeOrder.stream().map(OrderField::fieldId).toList());
    requireIds("Identities", identities.stream().map(Identity::fieldId).toList());
    requireFew("table properties", properties.size());
    requireFew("constraints", constraints.size());
    Set<String> names = new HashSet<>();
    for (Constraint constraint : constraints) {
      if (!names.add(constraint.name())) {
        throw new IllegalArgumentException(
            "Constraint '" + constraint.name() + "' is there twice; names are unique");
      }
    }
    requireFits(comment, properties, constraints);
  }

  private static void requireFits(
      String comment, Map<String, String> properties, List<Constraint> constraints) {
    long length = comment.length()
        + properties.entrySet().stream()
            .mapToLong(entry -> entry.getKey().length() + entry.getValue().length())
            .sum()
        + constraints.stream().mapToLong(Constraint::textLength).sum();
    if (length > MAX_LENGTH) {
      throw new IllegalArgumentException(
          "The comment, the properties and the constraints of a table"
              + " have " + length + " characters; at most " + MAX_LENGTH
              + " are kept, because each version has them");
    }
  }

  private static void requireFew(String what, int count) {
    if (count > MAX_COUNT) {
      throw new IllegalArgumentException(
          "A table has " + count + " " + what + "; at most " + MAX_COUNT + " are kept");
    }
  }

  static void requireText(String what, String text, int least, int most) {
    if (text.length() < least
        || text.length() > most
        || text.indexOf(0) >= 0
        || FieldSpec.hasUnpairedSurrogate(text)) {
      throw new IllegalArgumentException(what + " has " + text.length()
          + " characters and is not allowed: use " + least + " to " + most
          + " characters of valid Unicode without U+0000");
    }
  }

  static void requireId(String what, int id) {
    if (id < 1) {
      throw new IllegalArgumentException(
          what + " names field " + id + "; numbers of fields are >= 1");
    }
  }

  static void requireIds(String what, Collection<Integer> ids) {
    ids.forEach(id -> requireId(what, id));
    if (ids.size() > MAX_COUNT || Set.copyOf(ids).size() != ids.size()) {
      throw new IllegalArgumentException(
          what + " names " + ids.size() + " fields; name each once, and at most " + MAX_COUNT);
    }
  }

  /** Returns the constraint of a name. */
  public Optional<Constraint> constraint(String name) {
    return constraints.stream().filter(found -> found.name().equals(name)).findFirst();
  }

  /** Returns the identity of a field. */
  public Optional<Identity> identity(int fieldId) {
    return identities.stream().filter(found -> found.fieldId() == fieldId).findFirst();
  }

  /** Returns the checks that writers must evaluate. */
  public List<Constraint> enforced() {
    return constraints.stream().filter(Constraint::isEnforced).toList();
  }

  /**
   * Returns what names a field, such as {@code constraint 'positive'}: the field cannot be dropped.
   * Empty if nothing does.
   */
  public Optional<String> namesField(int id) {
    return Stream.of(
            writeOrder.stream()
                .filter(field -> field.fieldId() == id)
                .map(field -> "the write order"),
            constraints.stream()
                .filter(constraint -> constraint.fieldIds().contains(id))
                .map(constraint -> "constraint '" + constraint.name() + "'"),
            identity(id).stream().map(identity -> "an identity"))
        .flatMap(names -> names)
        .findFirst();
  }

  /** Returns the check whose text names a field: the field keeps its name and its type. */
  public Optional<Constraint> checkOf(int id) {
    return constraints.stream()
        .filter(constraint -> constraint.kind() == Constraint.Kind.CHECK)
        .filter(constraint -> constraint.fieldIds().contains(id))
        .findFirst();
  }

  /** Returns the numbers of all fields that something names, maybe more than once. */
  public Stream<Integer> fieldIds() {
    return Stream.of(
            writeOrder.stream().map(OrderField::fieldId),
            constraints.stream().flatMap(constraint -> constraint.fieldIds().stream()),
            identities.stream().map(Identity::fieldId))
        .flatMap(ids -> ids);
  }

  /** Returns these declarations with another comment. */
  public Declarations withComment(String newComment) {
    return new Declarations(newComment, properties, writeOrder, constraints, identities);
  }

  /** Returns these declarations with other properties. */
  public Declarations withProperties(Map<String, String> newProperties) {
    return new Declarations(comment, newProperties, writeOrder, constraints, identities);
  }

  /** Returns these declarations with another write order. */
  public Declarations withWriteOrder(List<OrderField> newOrder) {
    return new Declarations(comment, properties, newOrder, constraints, identities);
  }

  /** Returns these declarations with other constraints. */
  public Declarations withConstraints(List<Constraint> newConstraints) {
    return new Declarations(comment, properties, writeOrder, newConstraints, identities);
  }

  /** Returns these declarations with other identities. */
  public Declarations withIdentities(List<Identity> newIdentities) {
    return new Declarations(comment, properties, writeOrder, constraints, newIdentities);
  }

  /**
   * Returns these declarations with each identity as other declarations have it, if they have one
   * of the same series: numbers may have been reserved there.
   */
  public Declarations withSeriesOf(Declarations newest) {
    return withIdentities(identities.stream()
        .map(identity ->
            newest.identity(identity.fieldId()).filter(identity::isSameSeries).orElse(identity))
        .toList());
  }
}
