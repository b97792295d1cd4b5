package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.values.PromotedValues;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.table.write.PartitionText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.UnaryOperator;

/** Plans changes of a version's fields that touch no shard. Stateless. */
final class SchemaEdit {
  private SchemaEdit() {}

  static FieldChange add(TableSnapshot base, List<FieldSpec> fields) {
    return change(base, FieldChange.Kind.ADD_FIELDS, base.withFields(fields));
  }

  static FieldChange drop(TableSnapshot base, String name) {
    RecordSchema schema = base.schema();
    FieldSpec dropped = schema.fields().get(schema.ordinal(name));
    if (base.partitionFields().contains(dropped)) {
      throw mismatch(base, name, "the table is partitioned by it; overwrite the table first");
    }
    base.declarations().namesField(dropped.id()).ifPresent(declaration -> {
      throw mismatch(base, name, declaration + " names it; change the declaration first");
    });
    List<FieldSpec> left =
        schema.fields().stream().filter(field -> !field.equals(dropped)).toList();
    return change(base, FieldChange.Kind.SCHEMA, new RecordSchema(left, schema.unreadable()));
  }

  static FieldChange redefine(
      TableSnapshot base, String name, UnaryOperator<FieldSpec> redefinition) {
    RecordSchema schema = base.schema();
    int ordinal = schema.ordinal(name);
    FieldSpec present = schema.fields().get(ordinal);
    FieldSpec redefined = redefinition.apply(present);
    requireAllowed(base, present, redefined);
    List<FieldSpec> fields = new ArrayList<>(schema.fields());
    fields.set(ordinal, redefined);
    try {
      RecordSchema changed = new RecordSchema(fields, schema.unreadable());
      new DeclarationRules(base.storage().location(), base.declarations())
          .requireKept(schema, changed);
      return change(base, FieldChange.Kind.SCHEMA, changed);
    } catch (IllegalArgumentException e) {
      throw mismatch(base, name, String.valueOf(e.getMessage()));
    }
  }

  /** Plans another type of a field. Defaults are converted as values are. */
  static FieldChange promote(TableSnapshot base, String name, ElementType type) {
    return redefine(base, name, field -> promoted(base, field, type));
  }

  private static FieldSpec promoted(TableSnapshot base, FieldSpec field, ElementType type) {
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
      throw mismatch(base, field.name(), "a default has no value of type " + type);
    }
  }

  private static void requireAllowed(TableSnapshot base, FieldSpec present, FieldSpec redefined) {
    String name = present.name();
    if (redefined.id() != present.id() || !redefined.shape().equals(present.shape())) {
      throw mismatch(base, name, "its number and its shape never change");
    }
    if (!Promotions.allows(present.type(), redefined.type())) {
      throw mismatch(
          base,
          name,
          "values of type " + present.type() + " cannot be read as " + redefined.type()
              + "; add a field of that type, and drop this one");
    }
    if (!redefined.type().equals(present.type())
        && !keepsTexts(present.type())
        && base.partitionFields().contains(present)) {
      throw mismatch(
          base,
          name,
          "the table is partitioned by it, and the partitions would have other texts; overwrite the"
              + " table instead");
    }
    if (present.rules().isNullable() && !redefined.rules().isNullable()) {
      throw mismatch(base, name, "values may be absent, and nobody checked that none is");
    }
    String initial = promoted(base, present, redefined.type()).rules().initialHex();
    if (!Objects.equals(initial, redefined.rules().initialHex())) {
      throw mismatch(base, name, "its initial default is fixed; set the write default instead");
    }
  }

  /** Tells whether values of a type have the same {@link PartitionText} after a promotion. */
  private static boolean keepsTexts(ElementType type) {
    return switch (type.kind()) {
      case DATE, UTF8 -> false;
      default -> true;
    };
  }

  private static SchemaMismatchException mismatch(TableSnapshot base, String name, String reason) {
    String location = base.storage().location();
    return new SchemaMismatchException(
        location, "Cannot change field '" + name + "' of " + location + ": " + reason);
  }

  private static FieldChange change(
      TableSnapshot base, FieldChange.Kind kind, RecordSchema schema) {
    return new FieldChange(UUID.randomUUID(), kind, base, schema, List.of(), Map.of());
  }
}
