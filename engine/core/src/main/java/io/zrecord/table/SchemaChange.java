package io.zrecord.table;

import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Collects changes of the fields of a version and of what the table declares, and commits them as
 * one version. Each change sees the result of those before, and is refused at once if a rule
 * forbids it; then the changes before stay. Touches no shard.
 *
 * <pre>{@code
 * TableSnapshot after = SchemaChange.of(table.latest())
 *     .rename("label", "class")
 *     .add(score, FieldPlace.after("class"))
 *     .declare(declarations -> declarations.drop("positive"))
 *     .drop("text")
 *     .commit();
 * }</pre>
 *
 * <p>The change follows commits of records, of shards and of other declarations, and conflicts with
 * each other change of fields. Belongs to one thread.
 */
public final class SchemaChange {
  private final TableSnapshot base;
  private final UUID commitId = UUID.randomUUID();
  private final Map<String, String> notes = new HashMap<>();
  private SchemaPlan plan;
  private boolean isCommitted;

  private SchemaChange(TableSnapshot base) {
    this.base = base;
    this.plan = SchemaPlan.of(base);
  }

  /**
   * Begins a change of a version, mostly the newest.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the table or a field uses a feature
   *     that this release does not know
   */
  public static SchemaChange of(TableSnapshot base) {
    base.requireWritable();
    return new SchemaChange(base);
  }

  /** Returns the fields after the changes so far, with the numbers that added fields get. */
  public RecordSchema schema() {
    return plan.schema();
  }

  /** Returns what the table declares after the changes so far. */
  public Declarations declarations() {
    return plan.declarations();
  }

  /**
   * Adds a field without values: each record has the {@code initial} default, or an absent value.
   *
   * @param field the new field; it gets a number that the table never used
   * @throws io.zrecord.errors.SchemaMismatchException if the table has a field of the name, or the
   *     values may not be absent and there is no {@code initial} default
   * @throws IllegalArgumentException if there is no field after which the field should come
   */
  public SchemaChange add(FieldSpec field, FieldPlace place) {
    return to(open().add(field, place));
  }

  /**
   * Removes a field. Its values take space until the shards are written again.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if the table is partitioned by the field, or
   *     a declaration names the field
   */
  public SchemaChange drop(String name) {
    return to(open().drop(name));
  }

  /**
   * Gives a field another name.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if another field has the new name, or a check
   *     names the field
   */
  public SchemaChange rename(String name, String newName) {
    return redefine(name, field -> field.withName(newName));
  }

  /**
   * Gives a field a type to which its type promotes. Defaults are converted.
   *
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if the type of the field does not promote to
   *     the new type, or a check names the field
   */
  public SchemaChange promote(String name, ElementType type) {
    return to(open().promote(name, type));
  }

  /**
   * Changes the compression of later writes, attributes, {@code write} default or comment of a
   * field, or lets its values be absent.
   *
   * @param redefinition returns the new definition; number, shape and {@code initial} default stay
   * @throws IllegalArgumentException if there is no such field
   * @throws io.zrecord.errors.SchemaMismatchException if the new definition is not allowed
   */
  public SchemaChange redefine(String name, UnaryOperator<FieldSpec> redefinition) {
    return to(open().redefine(name, redefinition));
  }

  /**
   * Moves a field to another place among the fields.
   *
   * @throws IllegalArgumentException if there is no such field, or no other field after which the
   *     field should come
   */
  public SchemaChange move(String name, FieldPlace place) {
    return to(open().move(name, place));
  }

  /**
   * Changes what the table declares.
   *
   * @param edit is given a change of the declarations as they are after the changes so far, whose
   *     fields are {@link #schema}. The change is not committed by itself
   */
  public SchemaChange declare(Consumer<DeclarationChange> edit) {
    return to(open().declare(edit));
  }

  /** Adds an informative string to the version that is committed, not to the table. */
  public SchemaChange note(String key, String value) {
    open();
    notes.put(key, value);
    return this;
  }

  private SchemaPlan open() {
    if (isCommitted) {
      throw new IllegalStateException("Cannot add to the change of " + base
          + ": it was committed, or has failed; begin another");
    }
    return plan;
  }

  private SchemaChange to(SchemaPlan changed) {
    plan = changed;
    return this;
  }

  /**
   * Commits the version. May be called again after an unknown outcome: the change takes effect
   * once.
   *
   * @return the version committed; the newest if nothing is left to change
   * @throws io.zrecord.errors.CommitConflictException if another commit changed fields, or set what
   *     this change declares, or, for an enforced check or an identity, may have changed records
   * @throws io.zrecord.errors.SchemaMismatchException if another commit has declared since what
   *     forbids a change
   * @throws io.zrecord.errors.CommitOutcomeUnknownException if the version may or may not have been
   *     committed; call again
   */
  public TableSnapshot commit() {
    return commit(RecordTable.at(base.storage()));
  }

  TableSnapshot commit(RecordTable table) {
    isCommitted = true;
    return table.commit(this);
  }

  TableSnapshot base() {
    return base;
  }

  /** Tells whether no field changes, but maybe what the table declares. */
  boolean keepsFields() {
    return plan.keepsFields();
  }

  /** Returns what the change does to the fields. */
  FieldChange fields() {
    return new FieldChange(commitId, plan.kind(), base, plan.schema(), List.of(), notes);
  }
}
