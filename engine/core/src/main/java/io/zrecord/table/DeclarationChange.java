package io.zrecord.table;

import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.Identity;
import io.zrecord.schema.OrderField;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

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
  private final RecordSchema schema;
  private final boolean isPart;
  private final DeclarationRules rules;
  private final UUID commitId = UUID.randomUUID();
  private Declarations declarations;
  private final Map<String, String> notes = new HashMap<>();

  private DeclarationChange(
      TableSnapshot base, RecordSchema schema, Declarations declarations, boolean isPart) {
    this.base = base;
    this.schema = schema;
    this.declarations = declarations;
    this.isPart = isPart;
    this.rules = new DeclarationRules(base.storage().location(), declarations);
  }

  /** Begins a change of what a version declares, mostly the newest. */
  public static DeclarationChange of(TableSnapshot base) {
    return new DeclarationChange(base, base.schema(), base.declarations(), false);
  }

  /**
   * Begins a part of a change of fields.
   *
   * @param schema the fields as that change has made them so far
   * @param declarations what the table declares by then
   */
  static DeclarationChange of(TableSnapshot base, RecordSchema schema, Declarations declarations) {
    return new DeclarationChange(base, schema, declarations, true);
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
    int id = schema.fields().get(schema.ordinal(field)).id();
    List<Identity> identities = new ArrayList<>(declarations.identities());
    if (!identities.removeIf(present -> present.fieldId() == id)) {
      throw new IllegalArgumentException("Field '" + field + "' of " + base + " has no identity");
    }
    declarations = declarations.withIdentities(identities);
    return this;
  }

  private DeclarationChange requireFields(Declarations changed) {
    DeclarationRules changedRules = new DeclarationRules(base.storage().location(), changed);
    changedRules.requireFields(schema);
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
   * @throws IllegalStateException if this is part of a {@link SchemaChange}
   */
  public TableSnapshot commit() {
    if (isPart) {
      throw new IllegalStateException("Cannot commit the declarations of " + base
          + " alone: they are part of a change of fields; commit that change");
    }
    return RecordTable.at(base.storage()).commit(this);
  }

  Declarations declarations() {
    return declarations;
  }

  UUID commitId() {
    return commitId;
  }

  Map<String, String> notes() {
    return notes;
  }

  /** Returns what the change sets. */
  Declaring declaring() {
    return new Declaring(base, declarations);
  }
}
