package io.zrecord.changes;

import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.read.NarrowedReader;
import io.zrecord.internal.values.PromotedValues;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Tells as what the fields of a shard can be read in which a field may have a wider type than in
 * the version that is looked at: a table that was rolled back has the narrower type of an older
 * version, and versions in between wrote values of the wider one. Stateless.
 */
public final class ShardFields {
  private ShardFields() {}

  /**
   * Returns fields with the types that values of a shard have, where these are wider. Reads the
   * tables of the shard, and its patch.
   *
   * @return the same object if no type is wider
   * @throws io.zrecord.errors.MissingFileException if a file is missing
   * @throws io.zrecord.errors.CorruptDataException if a file is damaged
   */
  public static RecordSchema widest(Storage storage, RecordSchema fields, ShardSummary shard) {
    if (fields.fields().isEmpty()) {
      return fields;
    }
    try (ShardUse use = OpenShards.shared().use()) {
      OpenShard opened = use.get(storage, shard);
      List<FieldSpec> widest =
          fields.fields().stream().map(field -> widest(field, opened)).toList();
      return widest.equals(fields.fields())
          ? fields
          : new RecordSchema(widest, fields.unreadable());
    }
  }

  /**
   * Returns a reader of a field as one of a narrower type. A value is converted if it fits.
   *
   * @param field the field with the narrower type
   * @param values reads the field with a type to which the narrower one promotes
   * @param refusal makes what the reader throws where a value does not fit, of the value as text
   */
  public static FieldReader narrowed(
      FieldSpec field, FieldReader values, Function<String, ? extends RuntimeException> refusal) {
    return new NarrowedReader(field, values, refusal);
  }

  private static FieldSpec widest(FieldSpec field, OpenShard shard) {
    if (field.type().kind() == ElementType.Kind.NESTED) {
      return field;
    }
    FieldSpec widest = field;
    Optional<ElementType> ofTables = shard.tablesOf(field.id()).map(tables -> tables.type());
    if (ofTables.isPresent()) {
      widest = widened(widest, ofTables.get());
    }
    PatchFile patch = shard.patch();
    if (patch != null && patch.json().hasField(field.id())) {
      PatchField changed = patch.json().field(field.id());
      widest = widened(widest, changed.type());
    }
    return widest;
  }

  /** Returns a field as one of the type of some values, if that is wider. */
  private static FieldSpec widened(FieldSpec field, ElementType values) {
    if (values.equals(field.type()) || !Promotions.allows(field.type(), values)) {
      return field;
    }
    FieldSpec widened = field.withRules(FieldRules.NONE).withType(values);
    return field
        .rules()
        .initial()
        .map(initial -> widened.withRules(
            FieldRules.NONE.withInitial(PromotedValues.convert(initial, field.type(), values))))
        .orElse(widened);
  }
}
