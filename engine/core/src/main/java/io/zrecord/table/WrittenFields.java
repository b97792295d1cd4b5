package io.zrecord.table;

import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Compares the fields that shards were written with and the fields that a change says they have.
 * Values are written by the ordinals of fields, so those of another schema would be read as values
 * of other fields. Belongs to one thread, for one change.
 */
final class WrittenFields {
  private final RecordSchema schema;

  /** Digests of the fields of the change, by ids: most files have the same fields. */
  private final Map<List<Integer>, Long> digests = new HashMap<>();

  private WrittenFields(RecordSchema schema) {
    this.schema = schema;
  }

  /**
   * Requires that the shards that a change adds have its fields, as far as is known. A change that
   * replaces shards or their order names other fields, and its shards are written by this module.
   *
   * @throws SchemaMismatchException if a shard was written with other fields
   */
  static void require(String location, TableChange change) {
    WrittenFields fields = new WrittenFields(change.schema());
    List<ShardSummary> added =
        change.kind() == TableChange.Kind.RELAYOUT ? List.of() : change.shards();
    for (ShardSummary shard : added) {
      for (TablesRef file : shard.tables()) {
        if (file.writtenFields() != 0
            && file.writtenFields()
                != fields.digests.computeIfAbsent(file.fieldIds(), fields::digest)) {
          throw new SchemaMismatchException(
              location,
              "Cannot commit shard " + shard.id() + " to " + location
                  + ": it was written with other fields, or other types or shapes, than the change"
                  + " says for the ids " + file.fieldIds()
                  + ". Write the shard with the schema of the change");
        }
      }
    }
  }

  private long digest(List<Integer> ids) {
    Map<Integer, FieldSpec> byId = new HashMap<>();
    schema.fields().forEach(field -> byId.put(field.id(), field));
    List<FieldSpec> found = new ArrayList<>();
    for (int id : ids) {
      FieldSpec field = byId.get(id);
      if (field != null) {
        found.add(field);
      }
    }
    return RecordSchema.digest(found);
  }
}
