package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The table of what commutes: which operations a planned change may follow (FORMAT.md section
 * 15.2). What a change finds of its shards and fields in the newest version is compared besides. An
 * operation that this release does not know commutes with nothing.
 */
final class Commutation {
  private Commutation() {}

  /** What a planned change needs of each version since its base. */
  enum Need {
    /** Its shards stay as they are, which is compared shard by shard. */
    ITS_SHARDS,
    /** Records stay in the table, so that more can come after them. */
    KEPT_RECORDS,
    /** The same, and fields stay as they are. */
    KEPT_FIELDS,
    /** No record is added, deleted or changed, because the change depends on what it read. */
    UNCHANGED_RECORDS,
    /** The records of the base are those of the newest version, in the same shards and order. */
    SAME_RECORDS;

    /** Returns what a change of shards needs. */
    static Need of(TableChange change) {
      if (change.isolation() == TableChange.Isolation.SERIALIZABLE) {
        return UNCHANGED_RECORDS;
      }
      if (change.replacedPartitions().isPresent()) {
        return KEPT_RECORDS;
      }
      return switch (change.kind()) {
        case APPEND -> KEPT_RECORDS;
        case MERGE -> change.shards().isEmpty() ? ITS_SHARDS : KEPT_RECORDS;
        case REBALANCE, DELETE, UPDATE -> ITS_SHARDS;
        case CREATE, OVERWRITE, RELAYOUT -> SAME_RECORDS;
      };
    }
  }

  /** What a version did to the version before. */
  enum Operation {
    APPEND("append"),
    REBALANCE("rebalance"),
    RELAYOUT("relayout"),
    DELETE("delete"),
    UPDATE("update"),
    MERGE("merge"),
    ADD_FIELDS(FieldChange.Kind.ADD_FIELDS.operation()),
    REWRITE_FIELD(FieldChange.Kind.REWRITE_FIELD.operation()),
    SCHEMA(FieldChange.Kind.SCHEMA.operation()),
    CREATE("create"),
    OVERWRITE("overwrite"),
    RETRACT("retract"),
    /** A tag, an expiry, a sweep, a repair, a declaration or a reservation. */
    CARE(""),
    UNKNOWN("");

    private static final Map<String, Operation> BY_NAME = Stream.of(values())
        .filter(operation -> !operation.text.isEmpty())
        .collect(Collectors.toUnmodifiableMap(operation -> operation.text, Function.identity()));

    private final String text;

    Operation(String text) {
      this.text = text;
    }

    /** Returns the member {@code operation} of a manifest. */
    @Override
    public String toString() {
      return text;
    }

    /** Returns the operation of a version. */
    static Operation of(Manifest version) {
      return version.isCare() ? CARE : BY_NAME.getOrDefault(version.operation(), UNKNOWN);
    }

    /** Tells whether all records, but for single ones, are there after the operation. */
    private boolean keepsRecords() {
      return switch (this) {
        case APPEND, REBALANCE, RELAYOUT, DELETE, UPDATE, MERGE -> true;
        case ADD_FIELDS, REWRITE_FIELD, SCHEMA, CARE -> true;
        case CREATE, OVERWRITE, RETRACT, UNKNOWN -> false;
      };
    }

    /**
     * Tells whether records may be others after the operation. An added field is one that no change
     * has read; a rewritten field has other values.
     */
    private boolean changesRecords() {
      return switch (this) {
        case REBALANCE, RELAYOUT, ADD_FIELDS, SCHEMA, CARE -> false;
        case APPEND, DELETE, UPDATE, MERGE, REWRITE_FIELD -> true;
        case CREATE, OVERWRITE, RETRACT, UNKNOWN -> true;
      };
    }

    /** Tells whether the operation changes which fields there are. */
    private boolean changesFields() {
      return this == ADD_FIELDS || this == SCHEMA;
    }
  }

  /** Tells whether a change that needs this may follow an operation. */
  static boolean mayFollow(Need need, Operation since) {
    if (since == Operation.UNKNOWN) {
      return false;
    }
    return switch (need) {
      case ITS_SHARDS -> since != Operation.RETRACT;
      case KEPT_RECORDS -> since.keepsRecords();
      case KEPT_FIELDS -> since.keepsRecords() && !since.changesFields();
      case UNCHANGED_RECORDS -> !since.changesRecords();
      case SAME_RECORDS -> since == Operation.CARE;
    };
  }

  /**
   * Tells whether a change that needs this may follow versions that were expired before anybody
   * looked at them: its shards are there or not, whatever came between.
   */
  static boolean mayFollowExpired(Need need) {
    return need == Need.ITS_SHARDS;
  }
}
