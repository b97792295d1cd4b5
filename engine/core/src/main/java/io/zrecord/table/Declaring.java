package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.schema.Constraint;
import io.zrecord.schema.Declarations;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Identity;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a change sets in the declarations of its base, on top of those that others have set since.
 * Immutable.
 *
 * @param base the version on which the change was planned
 * @param declarations what the base would declare after the change
 */
record Declaring(TableSnapshot base, Declarations declarations) {
  /** Returns whether the declarations of a version have all that the change sets. */
  boolean isDone(Declarations newest) {
    try {
      return contested(newest) == null && on(newest).equals(newest);
    } catch (IllegalArgumentException e) {
      return false; // Together they are too much, which the commit says.
    }
  }

  /**
   * Requires that the change may follow the newest version.
   *
   * @throws CommitConflictException if it may not
   */
  void requireFits(Manifest newest) {
    if (isDone(newest.declarations())) {
      return;
    }
    String contested = contested(newest.declarations());
    if (contested != null) {
      throw conflict(
          contested + " was changed by another commit up to version " + newest.version());
    }
    if ((addsCheck() || addsIdentity())
        && !newest.records().commitId().equals(base.recordsCommitId())) {
      throw conflict("version " + newest.records().version()
          + (addsCheck()
              ? " may have records for which the check is false"
              : " may have records with numbers of the identity"));
    }
    try {
      Declarations added = Declarations.NONE.withConstraints(addedConstraints());
      new DeclarationRules(location(), added).requireKept(base.schema(), newest.schema());
    } catch (SchemaMismatchException e) {
      throw conflict(String.valueOf(e.getMessage()));
    }
  }

  /**
   * Returns what the next version declares.
   *
   * @param schema the fields of the next version
   * @throws CommitConflictException if these fields do not fit, or the declarations are too many
   */
  Declarations after(Manifest newest, RecordSchema schema) {
    try {
      Declarations next = on(newest.declarations());
      DeclarationRules rules = new DeclarationRules(location(), next);
      rules.requireFields(schema);
      rules.requirePartitions(schema, newest.partitions());
      return next;
    } catch (SchemaMismatchException | IllegalArgumentException e) {
      throw conflict(String.valueOf(e.getMessage()));
    }
  }

  /** Returns the declarations of the newest version that the change leaves as they are. */
  Declarations kept(Declarations newest) {
    return newest
        .withWriteOrder(isOrderKept() ? newest.writeOrder() : List.of())
        .withConstraints(newest.constraints().stream()
            .filter(constraint -> !droppedConstraints().contains(constraint))
            .toList())
        .withIdentities(without(newest.identities(), droppedIdentities()));
  }

  /** Returns what the change sets and another commit set otherwise since the base, if anything. */
  private @Nullable String contested(Declarations newest) {
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
    List<Constraint> constraints = new ArrayList<>(before.constraints());
    constraints.addAll(addedConstraints());
    for (Constraint constraint : constraints) {
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

  /** Tells whether the change adds an enforced check, which holds for the base only. */
  private boolean addsCheck() {
    return addedConstraints().stream().anyMatch(Constraint::isEnforced);
  }

  /** Tells whether the change adds an identity, whose numbers are new for the base only. */
  private boolean addsIdentity() {
    return !addedIdentities().isEmpty();
  }

  private boolean isOrderKept() {
    return declarations.writeOrder().equals(base.declarations().writeOrder());
  }

  private List<Constraint> addedConstraints() {
    List<Constraint> before = base.declarations().constraints();
    return declarations.constraints().stream()
        .filter(constraint -> !before.contains(constraint))
        .toList();
  }

  private List<Constraint> droppedConstraints() {
    return base.declarations().constraints().stream()
        .filter(constraint -> !declarations.constraints().contains(constraint))
        .toList();
  }

  private List<Identity> addedIdentities() {
    return without(declarations.identities(), base.declarations().identities());
  }

  private List<Identity> droppedIdentities() {
    return without(base.declarations().identities(), declarations.identities());
  }

  private static List<Identity> without(List<Identity> identities, List<Identity> others) {
    return identities.stream()
        .filter(identity -> others.stream().noneMatch(identity::isSameSeries))
        .toList();
  }

  /** Returns the declarations after the change of those of the newest version. */
  private Declarations on(Declarations newest) {
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
    Declarations kept = kept(newest);
    List<Constraint> constraints = new ArrayList<>(kept.constraints());
    addedConstraints().stream()
        .filter(constraint -> !constraints.contains(constraint))
        .forEach(constraints::add);
    List<Identity> identities = new ArrayList<>(kept.identities());
    identities.addAll(without(addedIdentities(), newest.identities()));
    return new Declarations(
        declarations.comment().equals(before.comment()) ? newest.comment() : declarations.comment(),
        properties,
        isOrderKept() ? newest.writeOrder() : declarations.writeOrder(),
        constraints,
        identities);
  }

  private String location() {
    return base.storage().location();
  }

  private CommitConflictException conflict(String reason) {
    return new CommitConflictException(
        location(),
        "Cannot change the declarations of " + location() + ", planned on version " + base.version()
            + ": " + reason + "; read the newest version and try again");
  }
}
