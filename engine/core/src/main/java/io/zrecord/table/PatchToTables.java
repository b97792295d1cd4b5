package io.zrecord.table;

import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.internal.shard.read.BatchBounds;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.table.write.ShardFields;
import io.zrecord.table.write.ShardWriter;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Moves values of fields from the patch of a shard to tables files of these fields, which have all
 * other values of the fields as well (FORMAT.md section 7.6). Other fields of the shard keep their
 * files. Belongs to one thread.
 */
final class PatchToTables {
  private static final int BATCH_RECORDS = 1 << 14;
  private static final long[] NO_SLOTS = {};

  private final Storage storage;
  private final RecordSchema schema;
  private final List<String> files;

  /**
   * Prepares to move.
   *
   * @param schema the fields of the table
   * @param files takes the name of each file that is written
   */
  PatchToTables(Storage storage, RecordSchema schema, List<String> files) {
    this.storage = storage;
    this.schema = schema;
    this.files = files;
  }

  /**
   * Moves fields to which earlier commits gave values, whose values stay as they are.
   *
   * @param shard with a patch
   */
  ShardSummary moveEarlier(ShardSummary shard, Set<Integer> fieldIds) {
    SortedMap<Integer, long[]> since = new TreeMap<>();
    fieldIds.forEach(id -> since.put(id, NO_SLOTS));
    ShardSummary added = write(shard, since);
    return noted(shard, ShardFields.with(storage, shard, added, Durability.COMMIT));
  }

  /**
   * Moves fields to which the commit of the patch gives values, which the tables files say.
   *
   * @param patched with a patch that says what its commit changes
   */
  ShardSummary moveChanged(ShardSummary patched, PatchFile patch, Set<Integer> fieldIds) {
    SlotsOfCommit changes = patch.slotsOfCommit().orElseThrow();
    SortedMap<Integer, long[]> since = new TreeMap<>();
    fieldIds.forEach(id -> since.put(
        id, changes.fields().containsKey(id) ? changes.fields().get(id).slots() : NO_SLOTS));
    ShardSummary added = write(patched, since);
    return noted(patched, ShardFields.ofSameCommit(storage, patched, added, Durability.COMMIT));
  }

  /** Notes the patch that a move has written. */
  private ShardSummary noted(ShardSummary before, ShardSummary after) {
    PatchRef patch = after.patch();
    if (patch != null && !patch.equals(before.patch())) {
      files.add(after.fileOf(patch));
    }
    return after;
  }

  private ShardSummary write(ShardSummary shard, SortedMap<Integer, long[]> since) {
    RecordSchema moved = new RecordSchema(
        schema.fields().stream().filter(field -> since.containsKey(field.id())).toList());
    OpenShard open = OpenShards.unshared(storage, shard);
    ShardList list = new ShardList(new long[] {shard.length()}, List.of(() -> open));
    List<FieldReader> readers = moved.fields().stream()
        .<FieldReader>map(
            field -> new ShardedFieldReader(field, list, Verification.FIRST, new ReadMetrics()))
        .toList();
    try (ShardWriter writer =
        ShardWriter.ofFields(storage, shard, moved, WriteOptions.defaults()).since(since)) {
      byte[][] columns = new byte[readers.size()][0];
      for (long first = 0; first < shard.length(); ) {
        int count = BatchBounds.select(
            readers, first, (int) Math.min(BATCH_RECORDS, shard.length() - first));
        copy(readers, count, columns, writer);
        first += count;
      }
      ShardSummary added = writer.finish().orElseThrow();
      added.chunks().forEach(chunk -> files.add(added.fileOf(chunk)));
      added.tables().forEach(file -> files.add(added.fileOf(file)));
      return added;
    }
  }

  private static void copy(
      List<FieldReader> readers, int count, byte[][] columns, ShardWriter writer) {
    int[] positions = new int[readers.size()];
    for (int field = 0; field < positions.length; field++) {
      FieldReader reader = readers.get(field);
      int bytes = Math.toIntExact(reader.totalLengthBytes());
      if (columns[field].length < bytes) {
        // The shorter array may go before the longer one exists.
        columns[field] = new byte[0];
        columns[field] = new byte[bytes];
      }
      reader.copyAll(columns[field], 0);
    }
    for (int i = 0; i < count; i++) {
      for (int field = 0; field < positions.length; field++) {
        FieldReader reader = readers.get(field);
        boolean isAbsent = reader.hasAbsent() && reader.isAbsent(i);
        int length = reader.field().valueWidthBytes().orElse(-1);
        length = length >= 0 ? length : reader.lengthBytes(i);
        if (!isAbsent) {
          writer.put(field, columns[field], positions[field], length);
        }
        positions[field] += length;
      }
      writer.endRecord();
    }
  }
}
