package io.zrecord.table;

import io.zrecord.schema.RecordSchema;
import io.zrecord.table.write.ShardFields;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * Says what a commit does to the fields of a table. Records and their order stay. Immutable.
 *
 * @param commitId unique to this attempt
 * @param kind what is done
 * @param base the version that the change was planned on
 * @param schema the fields after the change, with their ids
 * @param replacements each shard that gets values, alone, and what takes its place: the same shard
 *     with other tables files ({@link ShardFields})
 * @param properties informative strings
 */
public record FieldChange(
    UUID commitId,
    Kind kind,
    TableSnapshot base,
    RecordSchema schema,
    List<TableChange.Replacement> replacements,
    Map<String, String> properties) {

  /** Says what is done to the fields. */
  public enum Kind {
    /** Adds fields, with values for some shards. */
    ADD_FIELDS("addFields"),
    /** Gives fields that are there other values in some shards. */
    REWRITE_FIELD("rewriteField"),
    /** Renames, drops or redefines fields; touches no shard. */
    SCHEMA("schema");

    private final String operation;

    Kind(String operation) {
      this.operation = operation;
    }

    /** Returns the operation of the version. */
    public String operation() {
      return operation;
    }
  }

  public FieldChange {
    replacements = List.copyOf(replacements);
    properties = Map.copyOf(properties);
    if (kind == Kind.SCHEMA && !replacements.isEmpty()) {
      throw new IllegalArgumentException(
          "A change of the schema touches no shard, but there are " + replacements.size());
    }
    for (TableChange.Replacement replacement : replacements) {
      if (replacement.removed().size() != 1
          || replacement.added().size() != 1
          || !replacement
              .removed()
              .get(0)
              .id()
              .equals(replacement.added().get(0).id())) {
        throw new IllegalArgumentException("A change of fields replaces a shard by the same shard");
      }
    }
  }
}
