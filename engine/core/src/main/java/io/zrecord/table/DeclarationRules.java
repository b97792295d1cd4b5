package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Requires what a table declares of a commit. Immutable. */
final class DeclarationRules {
  /** Names of table properties with this prefix are those of this project. */
  static final String RESERVED = "zrecord.";

  private static final Map<String, List<String>> ALLOWED =
      Map.of(DeclarationChange.ISOLATION, List.of("serializable", "snapshot"));

  private final String location;
  private final Declarations declarations;

  DeclarationRules(String location, Declarations declarations) {
    this.location = location;
    this.declarations = declarations;
  }

  /** Requires that the fields that the declarations name are fields of the table, and allowed. */
  void requireFields(RecordSchema schema) {
    requireFields(schema, id -> true);
    requireIdentities(schema);
  }

  private void requireIdentities(RecordSchema schema) {
    for (Identity identity : declarations.identities()) {
      Optional<FieldSpec> field = schema.find(identity.fieldId());
      field.flatMap(Identity::obstacle).ifPresent(obstacle -> {
        throw refused("field '" + field.orElseThrow().name() + "' cannot have an identity: "
            + obstacle + "; only a single i64 that is never absent and has no default can");
      });
    }
  }

  /** Requires that the table is partitioned by no field whose values are numbered. */
  void requirePartitions(RecordSchema schema, List<Integer> partitions) {
    for (Identity identity : declarations.identities()) {
      if (partitions.contains(identity.fieldId())) {
        throw refused(
            name(schema, identity) + " cannot have an identity: the table is partitioned by it");
      }
    }
  }

  private static String name(RecordSchema schema, Identity identity) {
    return "field "
        + schema
            .find(identity.fieldId())
            .map(field -> "'" + field.name() + "'")
            .orElseGet(() -> String.valueOf(identity.fieldId()));
  }

  private void requireFields(RecordSchema schema, Predicate<Integer> matters) {
    declarations
        .fieldIds()
        .filter(id -> matters.test(id) && !has(schema, id))
        .findFirst()
        .ifPresent(id -> {
          throw refused(declarations.namesField(id).orElseThrow()
              + " names the field with the number " + id
              + ", which the table would not have; change the declaration first");
        });
  }

  private static boolean has(RecordSchema schema, int id) {
    return schema.find(id).isPresent()
        || schema.unreadable().stream().anyMatch(field -> field.id() == id);
  }

  /**
   * Requires that a change of fields drops none that the declarations name, that those which the
   * text of a check names keep their names and types, and that numbered ones stay as they must be.
   */
  void requireKept(RecordSchema before, RecordSchema after) {
    requireFields(after, id -> has(before, id));
    requireIdentities(after);
    for (FieldSpec field : after.fields()) {
      Optional<Constraint> check = declarations.checkOf(field.id());
      boolean isKept = before
          .find(field.id())
          .filter(same -> same.name().equals(field.name()) && same.type().equals(field.type()))
          .isPresent();
      if (check.isPresent() && !isKept) {
        throw refused("constraint '" + check.get().name() + "' reads field '"
            + before.find(field.id()).map(FieldSpec::name).orElse(field.name())
            + "' by its name and type; drop the constraint, by DeclarationChange or bin/zrecord"
            + " declare, and add it again afterwards");
      }
    }
  }

  /** Requires that the checks of all fields were evaluated. */
  void requireEvaluated(Collection<Constraint> evaluated) {
    requireEvaluated(evaluated, check -> true);
  }

  /** Requires that the checks which read a field that gets values were evaluated. */
  void requireEvaluated(Collection<Constraint> evaluated, Collection<Integer> fieldIds) {
    requireEvaluated(evaluated, check -> check.fieldIds().stream().anyMatch(fieldIds::contains));
  }

  private void requireEvaluated(Collection<Constraint> evaluated, Predicate<Constraint> concerns) {
    declarations.enforced().stream()
        .filter(concerns)
        .filter(check -> !evaluated.contains(check))
        .findFirst()
        .ifPresent(check -> {
          throw refused("constraint '" + check.name() + "' CHECK (" + check.sql()
              + ") is enforced, and this writer does not evaluate it; write with a program that"
              + " does, or drop the constraint");
        });
  }

  /**
   * Requires that shards of new records have a number of each identity.
   *
   * @param assigned the identities whose numbers the records have
   */
  void requireAssigned(
      RecordSchema schema, Collection<Identity> assigned, List<ShardSummary> added) {
    for (Identity identity : declarations.identities()) {
      if (assigned.stream().noneMatch(identity::isSameSeries)) {
        throw refused(name(schema, identity) + " has an identity from which this writer has"
            + " reserved no numbers, or that was declared or renewed since; write the records"
            + " again with a program that does, or drop the identity");
      }
      for (ShardSummary shard : added) {
        if (shard.tables().stream()
            .noneMatch(file -> file.fieldIds().contains(identity.fieldId()))) {
          throw refused("shard " + shard.id() + " leaves out " + name(schema, identity)
              + ", which has an identity; write a number for each record");
        }
      }
    }
  }

  /** Tells whether there is a field of which nobody gives any value. */
  boolean isAnyAlwaysGenerated() {
    return declarations.identities().stream()
        .anyMatch(identity -> identity.generation() == Identity.Generation.ALWAYS);
  }

  /** Requires that values of fields may be given: no field is one of which nobody gives any. */
  void requireGiven(RecordSchema schema, Collection<Integer> fieldIds) {
    for (Identity identity : declarations.identities()) {
      if (identity.generation() == Identity.Generation.ALWAYS
          && fieldIds.contains(identity.fieldId())) {
        throw refused(name(schema, identity) + " is always generated, so that its values are never"
            + " given and never changed; leave the field out, or declare an identity by default");
      }
    }
  }

  /**
   * Requires that a program may set a property: a name of this project that is known, with a value
   * that is allowed, or any other name.
   */
  void requireSettable(String key, String value) {
    if (!key.startsWith(RESERVED)) {
      return;
    }
    List<String> allowed = ALLOWED.get(key);
    if (allowed == null) {
      throw refused("there is no table property '" + key + "'; names that begin with '" + RESERVED
          + "' are reserved, and there are "
          + String.join(", ", ALLOWED.keySet().stream().sorted().toList()));
    }
    if (!allowed.contains(value)) {
      throw refused("table property '" + key + "' cannot be '" + value + "'; it is one of "
          + String.join(", ", allowed));
    }
  }

  /**
   * Returns the isolation that a table declares. A value of a later release is as strict as any.
   */
  static TableChange.Isolation isolation(Declarations declarations) {
    return "snapshot".equals(declarations.properties().get(DeclarationChange.ISOLATION))
        ? TableChange.Isolation.SNAPSHOT
        : TableChange.Isolation.SERIALIZABLE;
  }

  /** Requires of the declarations of a new table what a change of them requires. */
  void requireNew(RecordSchema schema) {
    declarations.properties().forEach(this::requireSettable);
    requireFields(schema);
  }

  /**
   * Requires that shards of new records leave out no field whose default is an expression.
   *
   * @param known the fields of the table that the writer could know
   */
  static void requireWritten(String location, Stream<FieldSpec> known, List<ShardSummary> added) {
    List<FieldSpec> evaluated =
        known.filter(field -> field.rules().hasDefaultExpression()).toList();
    for (ShardSummary shard : evaluated.isEmpty() ? List.<ShardSummary>of() : added) {
      for (FieldSpec field : evaluated) {
        if (shard.tables().stream().noneMatch(file -> file.fieldIds().contains(field.id()))) {
          throw new SchemaMismatchException(
              location,
              "Cannot commit shard " + shard.id() + " to " + location + ": it leaves out field '"
                  + field.name() + "', whose default is the expression "
                  + field.rules().defaultSql() + "; write a value of the field for each record,"
                  + " which may be absent");
        }
      }
    }
  }

  private SchemaMismatchException refused(String reason) {
    return new SchemaMismatchException(location, "Cannot change " + location + ": " + reason);
  }
}
