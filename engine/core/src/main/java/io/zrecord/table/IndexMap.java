package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.ShardList;
import io.zrecord.internal.shard.ShardUse;
import io.zrecord.internal.shard.read.ShardedFieldReader;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Objects;

/**
 * Says which index a record has after a relayout, by the index that it had in the version before
 * (FORMAT.md section 7). The map is a shard of its own, with one field of 8 bytes a record, so that
 * it can also be read as a dataset at {@link #directory}. The map is read through memory maps and
 * verified at first touch; nothing is kept in memory. Belongs to one thread.
 */
public final class IndexMap {
  /** Name of the map's only field. */
  public static final String FIELD = "newIndex";

  /** Fields of the shard that is the map. */
  public static final RecordSchema SCHEMA =
      RecordSchema.builder().field(FIELD, ElementType.I64).build();

  private static final int BLOCK = 1 << 13;

  private final Storage storage;
  private final ShardSummary shard;
  private final ShardUse use;
  private final FieldReader reader;
  private final byte[] bytes = new byte[BLOCK * Long.BYTES];

  IndexMap(Storage storage, ShardSummary shard) {
    this.storage = storage;
    this.shard = shard;
    ShardList shards = new ShardList(new long[] {shard.length()}, List.of(this::open));
    this.use = OpenShards.shared().use().endWith(shards);
    this.reader = new ShardedFieldReader(
        SCHEMA.fields().get(0), shards, Verification.FIRST, new ReadMetrics());
  }

  private OpenShard open() {
    OpenShard open = use.get(storage, shard);
    requireMap(open, shard, storage);
    return open;
  }

  /**
   * Checks that a shard may be a map: an index is believed only where a checksum confirms it.
   *
   * @throws CorruptDataException if the shard has other fields, absent values or no checksums
   */
  static void requireMap(OpenShard open, ShardSummary shard, Storage storage) {
    FieldSpec wanted = SCHEMA.fields().get(0);
    boolean isMap = shard.tables().size() == 1
        && shard.tables().get(0).fieldIds().equals(List.of(wanted.id()))
        && open.tablesOf(wanted.id())
            .filter(field -> field.type().equals(wanted.type())
                && field.shape().equals(wanted.shape())
                && field.absentCount() == 0)
            .isPresent();
    if (!isMap || !open.hasChecksums(wanted.id())) {
      String path = storage.pathOf(shard.directory());
      throw new CorruptDataException(
          path,
          "Cannot read " + path + ": "
              + (isMap ? "it has no checksums" : "its fields are not those")
              + " of an index map, which has checksums and one field '" + FIELD
              + "' of type i64 without absent values; restore the shard from a copy");
    }
  }

  /** Returns the number of records, which is equal in both versions. */
  public long length() {
    return shard.length();
  }

  /** Returns the shard that is the map, with the fields of {@link #SCHEMA}. */
  public ShardSummary shard() {
    return shard;
  }

  /** Returns the directory of the shard that is the map, relative to the table's. */
  public String directory() {
    return shard.directory();
  }

  /**
   * Returns the index that a record has now.
   *
   * @param oldIndex the index in the version before, in {@code [0, length())}
   * @throws IndexOutOfBoundsException if the index is not in that range
   * @throws CorruptDataException if the map is damaged there
   */
  public long newIndex(long oldIndex) {
    Objects.checkIndex(oldIndex, length());
    long[] one = new long[1];
    newIndices(oldIndex, one, 0, 1);
    return one[0];
  }

  /**
   * Writes the indices that {@code count} consecutive records have now to {@code target[from]} and
   * the places after it.
   *
   * @param firstOldIndex the index of the first of them in the version before
   * @throws IndexOutOfBoundsException if the records are not all in {@code [0, length())}, or the
   *     target has no room
   * @throws CorruptDataException if the map is damaged there
   */
  public void newIndices(long firstOldIndex, long[] target, int from, int count) {
    Objects.checkFromIndexSize(firstOldIndex, count, length());
    Objects.checkFromIndexSize(from, count, target.length);
    for (int done = 0; done < count; ) {
      int taken =
          reader.selectRange(firstOldIndex + done, Math.min(BLOCK, count - done), Long.MAX_VALUE);
      reader.copyAll(bytes, 0);
      ByteBuffer values = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      for (int i = 0; i < taken; i++) {
        long index = values.getLong(i * Long.BYTES);
        if (reader.isAbsent(i) || index < 0 || index >= length()) {
          throw corrupt(firstOldIndex + done + i, reader.isAbsent(i) ? "nothing" : "" + index);
        }
        target[from + done + i] = index;
      }
      done += taken;
    }
  }

  private CorruptDataException corrupt(long oldIndex, String found) {
    String path = storage.pathOf(directory());
    return new CorruptDataException(
        path,
        "Cannot read the index map " + path + ": record " + oldIndex + " has " + found
            + " as its new index, but indices are 0 to " + (length() - 1)
            + "; restore the shard from a copy");
  }
}
