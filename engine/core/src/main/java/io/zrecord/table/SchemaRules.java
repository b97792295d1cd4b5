package io.zrecord.table;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.DatasetExistsException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.internal.table.Manifest;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Decides what a change may follow, and which fields come out of it. */
final class SchemaRules implements SinceBase {
  private final String location;
  private final TableChange change;
  private final Commutation.Need need;
  private OptionalInt nextFieldIdOfBase = OptionalInt.empty();

  /** The fields on which the change was planned, as far as they are known. */
  private RecordSchema plannedOn;

  private boolean areRecordsKept = true;
  private final VersionsSince since = new VersionsSince();
  private final AddedToPartitions added;

  SchemaRules(String location, TableChange change, AddedToPartitions added) {
    this.added = added;
    this.location = location;
    this.change = change;
    this.plannedOn = change.schema();
    this.need = Commutation.Need.of(change);
  }

  @Override
  public boolean mayFollowExpired() {
    return Commutation.mayFollowExpired(need);
  }

  @Override
  public void requireBase(Manifest base) {
    since.begin(base);
    added.begin(base);
    compareBase(base);
  }

  private void compareBase(Manifest base) {
    nextFieldIdOfBase = OptionalInt.of(base.nextFieldId());
    plannedOn = base.schema();
    UUID records = base.records().commitId();
    if (change.baseCommit().filter(commit -> !commit.equals(records)).isPresent()) {
      throw givenUp(base);
    }
  }

  /**
   * Requires that the change commutes with a version that came first ({@link Commutation}). An
   * overwrite and a relayout are compared with the newest version instead.
   */
  @Override
  public void requireCommutes(Manifest winner) {
    since.add(winner);
    areRecordsKept &=
        Commutation.mayFollow(Commutation.Need.KEPT_RECORDS, Commutation.Operation.of(winner));
    if (winner.isBeginning() && change.baseVersion().isPresent()) {
      throw winner.isTable() ? anotherTable() : dropped();
    }
    boolean isCreation = need == Commutation.Need.KEPT_RECORDS && winner.isBeginning();
    if (!isCreation
        && need != Commutation.Need.SAME_RECORDS
        && !Commutation.mayFollow(need, Commutation.Operation.of(winner))) {
      throw conflict(
          need == Commutation.Need.UNCHANGED_RECORDS
              ? changedRecords(winner)
              : otherRecords(winner));
    }
    added.to(winner).ifPresent(partition -> {
      throw conflict("version " + winner.version() + " of the operation '" + winner.operation()
          + "' has put records into the partition " + partition
          + ", which it replaces, since version " + planned());
    });
  }

  /** Tells whether no version that was looked at has replaced the records of the table. */
  boolean areRecordsKept() {
    return areRecordsKept;
  }

  /** Returns the versions that were looked at. */
  VersionsSince since() {
    return since;
  }

  private String changedRecords(Manifest winner) {
    return "version " + winner.version() + " of the operation '" + winner.operation()
        + "' was committed since version " + planned()
        + ", and what it depends on may be another now";
  }

  private String otherRecords(Manifest winner) {
    String operation = winner.operation();
    boolean startsWithVowel = !operation.isEmpty() && "aeiou".indexOf(operation.charAt(0)) >= 0;
    return "version " + winner.version() + " is " + (startsWithVowel ? "an " : "a ") + operation
        + " committed since version " + planned() + ", on which it was planned";
  }

  /** Returns the fields after the change, on top of the newest version. */
  RecordSchema after(Optional<Manifest> newest) {
    if (change.expectedVersion().isPresent()) {
      requireExpected(location, change.kind(), change.expectedVersion().getAsLong(), newest);
    }
    if (newest.isEmpty()) {
      if (change.baseVersion().isPresent()) {
        throw dropped();
      }
      return change.schema();
    }
    Manifest manifest = newest.get();
    if (change.baseTable().isPresent() && !change.baseTable().get().equals(manifest.tableId())) {
      throw anotherTable();
    }
    return switch (change.kind()) {
      case CREATE ->
        throw new DatasetExistsException(
            location,
            "Cannot create " + location + ": it exists, its newest version is " + manifest.version()
                + "; append to it or overwrite it");
      case OVERWRITE -> overwritten(manifest);
      case APPEND -> rebased(manifest);
      case REBALANCE -> recompressed(manifest);
      case RELAYOUT -> reordered(manifest);
      case DELETE, UPDATE, MERGE -> changed(manifest);
    };
  }

  /**
   * Returns the fields that the change adds, and those that its base may have had. Records of the
   * change have the initial value of the others, as the records of the base have.
   *
   * @param after the fields after the change
   */
  Stream<FieldSpec> known(RecordSchema after) {
    int next = nextFieldIdOfBase.orElse(Integer.MAX_VALUE);
    return after.fields().stream()
        .filter(field -> field.id() < next || change.schema().find(field.id()).isPresent());
  }

  private RecordSchema overwritten(Manifest manifest) {
    if (manifest.records().version() > change.baseVersion().orElse(-1)) {
      throw conflict("version " + manifest.records().version()
          + " was committed since version " + planned()
          + ", on which it was planned, and overwriting it would drop what it added");
    }
    requireSameRecords(manifest);
    for (FieldSpec field : change.schema().fields()) {
      Optional<FieldSpec> same = manifest.schema().find(field.id());
      if (same.isPresent() ? !fits(same.get(), field) : field.id() < manifest.nextFieldId()) {
        throw new SchemaMismatchException(
            location,
            "Cannot overwrite " + location + ": field '" + field.name() + "' has the number "
                + field.id() + ", which another field had; numbers are never reused, take "
                + manifest.nextFieldId() + " or more");
      }
    }
    return change.schema();
  }

  private RecordSchema reordered(Manifest manifest) {
    long base = change.baseVersion().orElse(-1);
    if (manifest.records().version() > base) {
      throw notNewest(location, base, manifest.records().version());
    }
    requireSameRecords(manifest);
    return manifest.schema();
  }

  /**
   * Requires the records on which the change was planned. After a repair that gave versions up,
   * other commits have their numbers.
   */
  private void requireSameRecords(Manifest manifest) {
    requireReached(manifest);
    compareBase(manifest);
  }

  /** Requires that the newest version is not before the version on which the change was planned. */
  private void requireReached(Manifest manifest) {
    if (change.baseVersion().orElse(-1) > manifest.version()) {
      throw givenUp(manifest);
    }
  }

  private CommitConflictException givenUp(Manifest manifest) {
    return conflict("version " + manifest.version()
        + " does not come from that on which it was planned, version " + planned()
        + ", which a repair gave up since");
  }

  private CommitConflictException dropped() {
    return conflict("the table was dropped since version " + planned()
        + ", on which it was planned, and there is none now");
  }

  private CommitConflictException anotherTable() {
    return conflict(
        "the table on which it was planned was dropped, and another one stands there now");
  }

  /**
   * Returns the winner's fields and those that the change adds. A change that was planned for a new
   * table has not been compared with any fields.
   */
  private RecordSchema rebased(Manifest manifest) {
    requireReached(manifest);
    if (change.baseVersion().isEmpty() && !hasSameFields(manifest)) {
      throw conflict("the table was created meanwhile, with other fields: "
          + names(manifest.schema()) + ", not " + names(change.schema()));
    }
    List<FieldSpec> fields = new ArrayList<>(manifest.schema().fields());
    for (FieldSpec field : change.schema().fields()) {
      Optional<FieldSpec> same = manifest.schema().find(field.id());
      if (same.isPresent()) {
        if (!mayBeAppended(same.get(), field)) {
          throw conflict(
              "field '" + field.name() + "' has the number " + field.id() + ", which is '"
                  + same.get().name() + "' of another name, type or nullability in version "
                  + manifest.version() + "; it was planned on version " + planned());
        }
      } else if (field.id() < manifest.nextFieldId()
          || manifest.schema().find(field.name()).isPresent()) {
        throw conflict("field '" + field.name() + "' was removed or added by version "
            + manifest.version() + " since version " + planned());
      } else {
        requireUnlikeNewNames(manifest, field);
        fields.add(field);
      }
    }
    return new RecordSchema(fields);
  }

  /**
   * Requires that no field got a name since which differs from that of an added field by case only.
   * Whoever planned the change compared the names that were there, each in its own way.
   */
  private void requireUnlikeNewNames(Manifest manifest, FieldSpec added) {
    for (FieldSpec present : manifest.schema().fields()) {
      boolean isNewName = plannedOn
          .find(present.id())
          .filter(before -> before.name().equals(present.name()))
          .isEmpty();
      if (isNewName && present.name().equalsIgnoreCase(added.name())) {
        throw conflict("field '" + added.name() + "' would differ by case only from '"
            + present.name() + "', which got its name since version " + planned());
      }
    }
  }

  /** Returns the fields, after a comparison of those that get values. */
  private RecordSchema changed(Manifest manifest) {
    for (FieldSpec field : change.schema().fields()) {
      if (manifest
          .schema()
          .find(field.id())
          .filter(same -> mayBeUpdated(same, field))
          .isEmpty()) {
        throw conflict(
            "field '" + field.name() + "' was removed or changed since version " + planned());
      }
    }
    return manifest.schema();
  }

  private RecordSchema recompressed(Manifest manifest) {
    return new RecordSchema(manifest.schema().fields().stream()
        .map(field -> change
            .schema()
            .find(field.id())
            .map(planned -> field.withCompression(planned.compression()))
            .orElse(field))
        .toList());
  }

  private boolean hasSameFields(Manifest manifest) {
    return manifest.schema().fields().size() == change.schema().fields().size()
        && change.schema().fields().stream()
            .allMatch(field -> manifest
                .schema()
                .find(field.id())
                .filter(present -> fits(present, field))
                .isPresent());
  }

  private static String names(RecordSchema schema) {
    return schema.fields().stream()
        .map(field -> field.name() + " " + field.type())
        .collect(Collectors.joining(", "));
  }

  /**
   * Tells whether values of a field that was planned can be those of the field with its number. The
   * field may have been renamed or promoted since, if it is known to be a field of the base:
   * another commit may have given the number of a new field to a field of its own.
   */
  private boolean mayBeAppended(FieldSpec present, FieldSpec planned) {
    boolean isOfBase = planned.id() < nextFieldIdOfBase.orElse(0);
    return (isOfBase || present.name().equals(planned.name()))
        && Promotions.allows(planned.type(), present.type())
        && present.shape().equals(planned.shape())
        && (present.rules().isNullable() || !planned.rules().isNullable());
  }

  /**
   * Tells whether new values can be those of a field. The field may have been renamed since, if the
   * base is known to be the one on which the change was planned: after a repair, the number may be
   * that of another field.
   */
  private boolean mayBeUpdated(FieldSpec present, FieldSpec planned) {
    return (nextFieldIdOfBase.isPresent() || present.name().equals(planned.name()))
        && present.type().equals(planned.type())
        && present.shape().equals(planned.shape())
        && (present.rules().isNullable() || !planned.rules().isNullable());
  }

  private static boolean fits(FieldSpec present, FieldSpec field) {
    return present.name().equals(field.name())
        && present.type().equals(field.type())
        && present.shape().equals(field.shape());
  }

  private String planned() {
    return change.baseVersion().isPresent()
        ? String.valueOf(change.baseVersion().getAsLong())
        : "none (no table)";
  }

  /**
   * Requires that the newest version is the version that a change expects, or has its records: tags
   * and expiries may have come since.
   */
  static void requireExpected(
      String location, TableChange.Kind kind, long expected, Optional<Manifest> newest) {
    if (newest
        .filter(
            manifest -> manifest.records().version() <= expected && expected <= manifest.version())
        .isEmpty()) {
      throw conflict(
          location,
          kind,
          "version " + expected + " was expected to be the newest, but "
              + newest
                  .map(manifest -> "version " + manifest.version() + " is")
                  .orElse("there is none"));
    }
  }

  /** Makes the conflict of a relayout that was not planned on the newest version. */
  static CommitConflictException notNewest(String location, long planned, long newest) {
    return conflict(
        location,
        TableChange.Kind.RELAYOUT,
        "version " + newest + " was committed since version " + planned
            + ", on which it was planned, and what it changed is not in the new order");
  }

  private CommitConflictException conflict(String reason) {
    return conflict(location, change.kind(), reason);
  }

  private static CommitConflictException conflict(
      String location, TableChange.Kind kind, String reason) {
    return new CommitConflictException(
        location,
        "Cannot commit the " + kind.name().toLowerCase(Locale.ROOT) + " to " + location + ": "
            + reason + "; read the newest version and try again");
  }
}
