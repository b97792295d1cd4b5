package io.zrecord.table;

import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchSince;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
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
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Moves values of fields from the patch of a shard to tables files of these fields, which have all
 * other values of the fields as well (FORMAT.md section 7.6). Other fields of the shard keep their
 * files. Belongs to one thread.
 */
final class PatchToTables {
  /** Most bytes of values of a field that are read at once, unless one value is longer. */
  private static final long BATCH_BYTES = 4 << 20;

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
   * Returns the fields with the most values, as many as have to leave a patch, so that what is left
   * is as small as patches must be.
   */
  static Set<Integer> excess(PatchFile patch, PatchRef ref) {
    List<PatchField> fields = new ArrayList<>();
    patch.json().fields().keySet().forEach(id -> fields.add(patch.json().field(id)));
    fields.sort(Comparator.comparingLong(PatchField::count).reversed());
    Map<Integer, BitSet> chunks = new HashMap<>();
    fields.forEach(field -> chunks.put(field.id(), chunksOf(patch.changed(field))));
    Set<Integer> moved = new HashSet<>();
    long bytes = ref.bytes();
    for (PatchField field : fields) {
      BitSet left = new BitSet();
      chunks.values().forEach(left::or);
      if (bytes <= PatchRef.MOST_BYTES && left.cardinality() <= PatchRef.MOST_CHUNKS) {
        break;
      }
      moved.add(field.id());
      chunks.remove(field.id());
      bytes -= bytesOf(patch, field);
    }
    return moved;
  }

  private static long bytesOf(PatchFile patch, PatchField field) {
    SlotSet since = patch
        .json()
        .since()
        .map(PatchSince::fields)
        .map(sets -> sets.get(field.id()))
        .orElse(SlotSet.NONE);
    return field.slots().section().bytes()
        + field.entries().bytes()
        + field.statistics().bytes()
        + since.section().bytes();
  }

  private static BitSet chunksOf(ChangedField field) {
    BitSet chunks = new BitSet();
    EntryField values = field.values();
    for (long rank = 0; rank < field.slots().count(); rank++) {
      long word0 = values.word0(rank);
      long word1 = values.word1(rank);
      if (!Entry.isAbsent(word0, word1)) {
        chunks.set(values.chunkOf(rank, word0, word1));
      }
    }
    return chunks;
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
        int count = (int) Math.min(BATCH_RECORDS, shard.length() - first);
        for (FieldReader reader : readers) {
          count = Math.min(count, reader.selectRange(first, count, BATCH_BYTES));
        }
        copy(readers, first, count, columns, writer);
        first += count;
      }
      ShardSummary added = writer.finish().orElseThrow();
      added.chunks().forEach(chunk -> files.add(added.fileOf(chunk)));
      added.tables().forEach(file -> files.add(added.fileOf(file)));
      return added;
    }
  }

  private static void copy(
      List<FieldReader> readers, long first, int count, byte[][] columns, ShardWriter writer) {
    int[] positions = new int[readers.size()];
    for (int field = 0; field < positions.length; field++) {
      FieldReader reader = readers.get(field);
      if (reader.count() != count) {
        reader.selectRange(first, count, Long.MAX_VALUE);
      }
      int bytes = Math.toIntExact(reader.totalLengthBytes());
      if (columns[field].length < bytes) {
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
