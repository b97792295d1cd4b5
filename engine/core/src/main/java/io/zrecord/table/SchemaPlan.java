package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.values.PromotedValues;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.write.PartitionText;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * The fields and declarations of a version after some edits, each of which sees the result of those
 * before. Follows from the version and the edits alone. Touches no shard. Immutable.
 */
final class SchemaPlan {
  private final TableSnapshot base;
  private final RecordSchema schema;
  private final Declarations declarations;
  private final int nextFieldId;

  private SchemaPlan(
      TableSnapshot base, RecordSchema schema, Declarations declarations, int nextFieldId) {
    this.base = base;
    this.schema = schema;
    this.declarations = declarations;
    this.nextFieldId = nextFieldId;
  }

  /** Returns a version without edits. */
  static SchemaPlan of(TableSnapshot base) {
    return new SchemaPlan(base, base.schema(), base.declarations(), base.nextFieldId());
  }

  RecordSchema schema() {
    return schema;
  }

  Declarations declarations() {
    return declarations;
  }

  /** Tells whether the fields are those of the version. */
  boolean keepsFields() {
    return schema.equals(base.schema());
  }

  /** Returns what is done to the fields: nothing but additions, or more. */
  FieldChange.Kind kind() {
    List<FieldSpec> old = schema.fields().stream()
        .filter(field -> field.id() < base.nextFieldId())
        .toList();
    return old.equals(base.schema().fields())
        ? FieldChange.Kind.ADD_FIELDS
        : FieldChange.Kind.SCHEMA;
  }

  /** Adds a field, with a number that the table never used. */
  SchemaPlan add(FieldSpec field, FieldPlace place) {
    if (!field.rules().isNullable() && field.rules().initialHex() == null) {
      throw refused(
          "add",
          field.name(),
          "its values may not be absent, and it has no initial default for the records that are"
              + " there; give it one, or let values be absent");
    }
    List<FieldSpec> fields = new ArrayList<>(schema.fields());
    fields.add(place.in(schema), field.withId(nextFieldId));
    return with("add", field.name(), fields, Math.addExact(nextFieldId, 1));
  }

  SchemaPlan drop(String name) {
    FieldSpec dropped = schema.fields().get(schema.ordinal(name));
    if (isPartitioned(dropped)) {
      throw mismatch(
          name,
          "the table is partitioned by it; replace the table, as CREATE OR REPLACE TABLE"
              + " … AS SELECT does in Spark, because an overwrite keeps the partitions");
    }
    declarations.namesField(dropped.id()).ifPresent(declaration -> {
      throw mismatch(
          name,
          declaration + " names it; change the declaration first, by DeclarationChange or"
              + " bin/zrecord declare");
    });
    List<FieldSpec> left =
        schema.fields().stream().filter(field -> field.id() != dropped.id()).toList();
    return with("change", name, left, nextFieldId);
  }

  SchemaPlan move(String name, FieldPlace place) {
    FieldSpec moved = schema.fields().get(schema.ordinal(name));
    List<FieldSpec> fields = new ArrayList<>(schema.fields());
    fields.remove(moved);
    fields.add(place.in(new RecordSchema(fields, schema.unreadable())), moved);
    return with("change", name, fields, nextFieldId);
  }

  SchemaPlan redefine(String name, UnaryOperator<FieldSpec> redefinition) {
    int ordinal = schema.ordinal(name);
    FieldSpec present = schema.fields().get(ordinal);
    FieldSpec redefined = redefinition.apply(present);
    requireAllowed(present, redefined);
    List<FieldSpec> fields = new ArrayList<>(schema.fields());
    fields.set(ordinal, redefined);
    SchemaPlan changed = with("change", name, fields, nextFieldId);
    new DeclarationRules(location(), declarations).requireKept(schema, changed.schema);
    return changed;
  }

  /** Plans another type of a field. Defaults are converted as values are. */
  SchemaPlan promote(String name, ElementType type) {
    return redefine(name, field -> promoted(field, type));
  }

  /** Plans a change of what the table declares of the fields after the edits before. */
  SchemaPlan declare(Consumer<DeclarationChange> edit) {
    DeclarationChange change = DeclarationChange.of(base, schema, declarations);
    edit.accept(change);
    return new SchemaPlan(base, schema, change.declarations(), nextFieldId);
  }

  private SchemaPlan with(String verb, String name, List<FieldSpec> fields, int next) {
    try {
      return new SchemaPlan(
          base, new RecordSchema(fields, schema.unreadable()), declarations, next);
    } catch (IllegalArgumentException e) {
      throw refused(verb, name, String.valueOf(e.getMessage()));
    }
  }

  private FieldSpec promoted(FieldSpec field, ElementType type) {
    if (!Promotions.allows(field.type(), type)) {
      return field.withRules(FieldRules.NONE).withType(type); // Is refused.
    }
    try {
      FieldRules rules = field.rules();
      if (rules.initialHex() != null) {
        byte[] initial = rules.initial().orElseThrow();
        rules = rules.withInitial(PromotedValues.convert(initial, field.type(), type));
      }
      if (rules.writeHex() != null) {
        byte[] write = rules.write().orElseThrow();
        String text = rules.defaultSql();
        rules = rules.withWrite(PromotedValues.convert(write, field.type(), type));
        rules = text == null ? rules : rules.withDefaultSql(text);
      }
      return field.withRules(FieldRules.NONE).withType(type).withRules(rules);
    } catch (ArithmeticException e) {
      throw mismatch(field.name(), "a default has no value of type " + type);
    }
  }

  private void requireAllowed(FieldSpec present, FieldSpec redefined) {
    String name = present.name();
    if (redefined.id() != present.id() || !redefined.shape().equals(present.shape())) {
      throw mismatch(name, "its number and its shape never change");
    }
    if (!Promotions.allows(present.type(), redefined.type())) {
      throw mismatch(
          name,
          "values of type " + present.type() + " cannot be read as " + redefined.type()
              + "; add a field of that type, and drop this one");
    }
    if (!redefined.type().equals(present.type())
        && !keepsTexts(present.type())
        && isPartitioned(present)) {
      throw mismatch(
          name,
          "the table is partitioned by it, and the partitions would have other texts; overwrite the"
              + " table instead");
    }
    if (present.rules().isNullable() && !redefined.rules().isNullable()) {
      throw mismatch(name, "values may be absent, and nobody checked that none is");
    }
    String initial = promoted(present, redefined.type()).rules().initialHex();
    if (!Objects.equals(initial, redefined.rules().initialHex())) {
      throw mismatch(name, "its initial default is fixed; set the write default instead");
    }
  }

  private boolean isPartitioned(FieldSpec field) {
    return base.manifest().partitions().contains(field.id());
  }

  /** Tells whether values of a type have the same {@link PartitionText} after a promotion. */
  private static boolean keepsTexts(ElementType type) {
    return switch (type.kind()) {
      case DATE, UTF8 -> false;
      default -> true;
    };
  }

  private SchemaMismatchException mismatch(String name, String reason) {
    return refused("change", name, reason);
  }

  private SchemaMismatchException refused(String verb, String name, String reason) {
    String preposition = verb.equals("add") ? "to " : "of ";
    return new SchemaMismatchException(
        location(),
        "Cannot " + verb + " field '" + name + "' " + preposition + location() + ": " + reason);
  }

  private String location() {
    return base.storage().location();
  }
}
