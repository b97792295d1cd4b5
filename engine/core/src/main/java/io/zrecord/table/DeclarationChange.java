package io.zrecord.table;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.OrderField;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Collects changes of what a table declares, and commits them as one version. Touches no shard and
 * no field. Every other commit may follow, and the change follows every other commit that left
 * alone what the change sets.
 *
 * <pre>{@code
 * TableSnapshot after = DeclarationChange.of(table.latest())
 *     .set(DeclarationChange.ISOLATION, "snapshot")
 *     .comment("Images of the second campaign")
 *     .commit();
 * }</pre>
 *
 * <p>Belongs to one thread.
 */
public final class DeclarationChange {
  /**
   * Name of the table property that says which commits a change of records must not follow, if the
   * program that makes the change does not say it: {@code serializable}, the default, or
   * {@code snapshot}.
   */
  public static final String ISOLATION = DeclarationRules.RESERVED + "isolation";

  private final TableSnapshot base;
  private final DeclarationRules rules;
  private final UUID commitId = UUID.randomUUID();
  private Declarations declarations;
  private final Map<String, String> notes = new HashMap<>();

  private DeclarationChange(TableSnapshot base) {
    this.base = base;
    this.declarations = base.declarations();
    this.rules = new DeclarationRules(base.storage().location(), declarations);
  }

  /** Begins a change of what a version declares, mostly the newest. */
  public static DeclarationChange of(TableSnapshot base) {
    return new DeclarationChange(base);
  }

  /**
   * Sets a table property.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the name begins with {@code zrecord.} and
   *     is not known, or the value is not allowed for the name
   * @throws IllegalArgumentException if the name or the value is too long, or not valid Unicode
   */
  public DeclarationChange set(String key, String value) {
    rules.requireSettable(key, value);
    Map<String, String> properties = new TreeMap<>(declarations.properties());
    properties.put(key, value);
    declarations = declarations.withProperties(properties);
    return this;
  }

  /** Removes a table property. Has no effect if there is none of the name. */
  public DeclarationChange unset(String key) {
    Map<String, String> properties = new TreeMap<>(declarations.properties());
    properties.remove(key);
    declarations = declarations.withProperties(properties);
    return this;
  }

  /** Sets the comment of the table; empty for none. */
  public DeclarationChange comment(String text) {
    declarations = declarations.withComment(text);
    return this;
  }

  /**
   * Sets the fields by which writers should order records; empty for none. The records that are
   * there stay in their order. The engine keeps the order for programs that ask, and obeys it
   * nowhere: appends keep the order in which records come, a rebalance keeps the order of indices,
   * and a relayout takes its order from its caller.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the version does not have a field
   */
  public DeclarationChange writeOrder(List<OrderField> order) {
    return requireFields(declarations.withWriteOrder(order));
  }

  /**
   * Adds a constraint. Whoever adds an enforced check says that it is not false for any record of
   * the version.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the version does not have a field
   * @throws IllegalArgumentException if there is a constraint of the name
   */
  public DeclarationChange add(Constraint constraint) {
    List<Constraint> constraints = new ArrayList<>(declarations.constraints());
    constraints.add(constraint);
    return requireFields(declarations.withConstraints(constraints));
  }

  /**
   * Removes a constraint.
   *
   * @throws IllegalArgumentException if there is none of the name
   */
  public DeclarationChange drop(String constraint) {
    List<Constraint> constraints = new ArrayList<>(declarations.constraints());
    if (!constraints.removeIf(found -> found.name().equals(constraint))) {
      throw new IllegalArgumentException("There is no constraint '" + constraint
          + "'; the constraints of " + base + " are "
          + constraints.stream().map(Constraint::name).toList());
    }
    declarations = declarations.withConstraints(constraints);
    return this;
  }

  /**
   * Lets a table number its records in a field. The identity takes the place of the one that the
   * field has. Whoever adds an identity says that no record of the version has one of its numbers,
   * if that matters: nobody looks at the values that are there.
   *
   * @throws io.zrecord.errors.SchemaMismatchException if the version does not have the field, or
   *     the field cannot have an identity
   */
  public DeclarationChange add(Identity identity) {
    List<Identity> identities = new ArrayList<>(declarations.identities());
    identities.removeIf(present -> present.fieldId() == identity.fieldId());
    identities.add(identity);
    return requireFields(declarations.withIdentities(identities));
  }

  /**
   * Ends the numbering of a field, which keeps its values.
   *
   * @throws IllegalArgumentException if there is no such field, or it has no identity
   */
  public DeclarationChange dropIdentity(String field) {
    int id = base.schema().fields().get(base.schema().ordinal(field)).id();
    List<Identity> identities = new ArrayList<>(declarations.identities());
    if (!identities.removeIf(present -> present.fieldId() == id)) {
      throw new IllegalArgumentException("Field '" + field + "' of " + base + " has no identity");
    }
    declarations = declarations.withIdentities(identities);
    return this;
  }

  private DeclarationChange requireFields(Declarations changed) {
    DeclarationRules changedRules = new DeclarationRules(base.storage().location(), changed);
    changedRules.requireFields(base.schema());
    changedRules.requirePartitions(base.schema(), base.manifest().partitions());
    declarations = changed;
    return this;
  }

  /** Adds an informative string to the version that is committed, not to the table. */
  public DeclarationChange note(String key, String value) {
    notes.put(key, value);
    return this;
  }

  /**
   * Commits the version. May be called again after an unknown outcome.
   *
   * @return the version committed; the newest if nothing is left to change
   * @throws io.zrecord.errors.CommitConflictException if another commit changed what this change
   *     sets, dropped a field, or, for an enforced check or an identity, may have changed records
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     committed; call again
   */
  public TableSnapshot commit() {
    return RecordTable.at(base.storage()).commit(this);
  }

  TableSnapshot base() {
    return base;
  }

  UUID commitId() {
    return commitId;
  }

  Map<String, String> notes() {
    return notes;
  }

  /** Returns whether the declarations of a version have all that the change sets. */
  boolean isDone(Declarations newest) {
    try {
      return contested(newest) == null && on(newest).equals(newest);
    } catch (IllegalArgumentException e) {
      return false; // Together they are too much, which the commit says.
    }
  }

  /** Returns what the change sets and another commit set otherwise since the base, if anything. */
  @Nullable
  String contested(Declarations newest) {
    Declarations before = base.declarations();
    if (isContested(before.comment(), newest.comment(), declarations.comment())) {
      return "the comment of the table";
    }
    if (isContested(before.writeOrder(), newest.writeOrder(), declarations.writeOrder())) {
      return "the write order";
    }
    Map<String, String> properties = new TreeMap<>(before.properties());
    properties.putAll(declarations.properties());
    for (String key : properties.keySet()) {
      if (isContested(
          before.properties().get(key),
          newest.properties().get(key),
          declarations.properties().get(key))) {
        return "table property '" + key + "'";
      }
    }
    for (Constraint constraint : changedConstraints()) {
      String name = constraint.name();
      if (isContested(
          before.constraint(name), newest.constraint(name), declarations.constraint(name))) {
        return "constraint '" + name + "'";
      }
    }
    return contestedIdentity(newest);
  }

  /** Numbers that were reserved since the base do not matter, the series does. */
  private @Nullable String contestedIdentity(Declarations newest) {
    Declarations before = base.declarations();
    for (FieldSpec field : base.schema().fields()) {
      if (isContested(
          sequence(before, field), sequence(newest, field), sequence(declarations, field))) {
        return "the identity of field '" + field.name() + "'";
      }
    }
    return null;
  }

  private static Optional<UUID> sequence(Declarations declarations, FieldSpec field) {
    return declarations.identity(field.id()).map(Identity::sequence);
  }

  private static boolean isContested(
      @Nullable Object before, @Nullable Object newest, @Nullable Object wanted) {
    return !Objects.equals(before, wanted)
        && !Objects.equals(newest, before)
        && !Objects.equals(newest, wanted);
  }

  private List<Constraint> changedConstraints() {
    List<Constraint> changed = new ArrayList<>(base.declarations().constraints());
    declarations.constraints().stream().filter(c -> !changed.contains(c)).forEach(changed::add);
    return changed;
  }

  /** Tells whether the change adds an enforced check, which holds for the base only. */
  boolean addsCheck() {
    return declarations.enforced().stream()
        .anyMatch(check -> !base.declarations().constraints().contains(check));
  }

  /** Tells whether the change adds an identity, whose numbers are new for the base only. */
  boolean addsIdentity() {
    return !without(declarations.identities(), base.declarations().identities()).isEmpty();
  }

  private static List<Identity> without(List<Identity> identities, List<Identity> others) {
    return identities.stream()
        .filter(identity -> others.stream().noneMatch(identity::isSameSeries))
        .toList();
  }

  /** Returns the declarations after the change of those of the newest version. */
  Declarations on(Declarations newest) {
    Declarations before = base.declarations();
    Map<String, String> properties = new TreeMap<>(newest.properties());
    before.properties().keySet().stream()
        .filter(key -> !declarations.properties().containsKey(key))
        .forEach(properties::remove);
    declarations.properties().forEach((key, value) -> {
      if (!value.equals(before.properties().get(key))) {
        properties.put(key, value);
      }
    });
    List<Constraint> constraints = new ArrayList<>(newest.constraints());
    constraints.removeIf(found ->
        before.constraints().contains(found) && !declarations.constraints().contains(found));
    for (Constraint constraint : declarations.constraints()) {
      if (!before.constraints().contains(constraint) && !constraints.contains(constraint)) {
        constraints.add(constraint);
      }
    }
    List<Identity> dropped = without(before.identities(), declarations.identities());
    List<Identity> identities = new ArrayList<>(without(newest.identities(), dropped));
    identities.addAll(
        without(without(declarations.identities(), before.identities()), newest.identities()));
    return new Declarations(
        declarations.comment().equals(before.comment()) ? newest.comment() : declarations.comment(),
        properties,
        declarations.writeOrder().equals(before.writeOrder())
            ? newest.writeOrder()
            : declarations.writeOrder(),
        constraints,
        identities);
  }
}
