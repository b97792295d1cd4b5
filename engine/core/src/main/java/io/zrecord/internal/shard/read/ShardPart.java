package io.zrecord.internal.shard.read;

import io.zrecord.internal.format.SlotFilter;
import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.read.ReadMetrics;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * One shard as seen by one reader of one field: the field in the shard, and the places of the
 * shard's chunks in the window table. Belongs to one thread.
 */
final class ShardPart {
  private static final int NOT_ADDED = -1;

  private final OpenShard shard;
  private final long firstIndex;
  private final OpenField field;
  private final boolean isFar;
  private final WindowTable table;
  private final Fetcher fetcher;
  private final ReadMetrics metrics;
  private final int[] firstWindows;
  private final Windows[] chunks;
  private final int[] wholeWindows;
  private final @Nullable ShardPatch patch;
  private final SlotFilter filter;
  private @Nullable FetchedRanges @Nullable [] fetched;
  private int valuesWindow = NOT_ADDED;

  /**
   * Opens nothing yet.
   *
   * @param firstIndex index in the dataset of the shard's first record
   * @param patch what was deleted and changed since; null if nothing
   */
  ShardPart(
      OpenShard shard,
      long firstIndex,
      OpenField field,
      @Nullable ShardPatch patch,
      WindowTable table,
      Fetcher fetcher,
      ReadMetrics metrics) {
    this.patch = patch;
    ChangedField changed = changed();
    this.filter = changed == null ? SlotFilter.NONE : changed.filter();
    this.firstIndex = firstIndex;
    this.shard = shard;
    this.isFar = shard.isRemote();
    this.field = field;
    this.table = table;
    this.fetcher = fetcher;
    this.metrics = metrics;
    int chunkCount = field.chunkCount();
    this.firstWindows = new int[chunkCount];
    this.chunks = new Windows[chunkCount];
    this.wholeWindows = new int[chunkCount];
    Arrays.fill(firstWindows, NOT_ADDED);
    Arrays.fill(wholeWindows, NOT_ADDED);
  }

  /** Returns the index in the dataset of the record in a slot. */
  long indexOf(long slot) {
    return firstIndex + (patch == null ? slot : patch.indexOf(slot));
  }

  /** Returns what was deleted and changed since the tables were written; null if nothing. */
  @Nullable
  ShardPatch patch() {
    return patch;
  }

  /** Returns the changed values of the field; null if there are none. */
  @Nullable
  ChangedField changed() {
    return patch == null ? null : patch.changed();
  }

  /** Returns the slot of a record, given by its index in the shard. */
  long slotOf(long index) {
    return patch == null ? index : patch.slotOf(index);
  }

  /** Tells whether the value of a slot may have been changed. */
  boolean mayBeChanged(long slot) {
    return filter.mayContain(slot);
  }

  OpenField field() {
    return field;
  }

  /**
   * Returns the number of the window of each chunk of the field. Negative if the chunk has several
   * windows, or was not used yet.
   */
  int[] wholeWindows() {
    return wholeWindows;
  }

  /**
   * Returns the {@link Place} of bytes of a chunk. All windows of these bytes are ready then. Empty
   * bytes are at the beginning of {@link WindowTable#EMPTY}.
   */
  long place(int chunkOrdinal, long position, long length) {
    if (fetched != null && length > 0) {
      FetchedRanges ranges = fetched[chunkOrdinal];
      long found = ranges == null ? -1 : ranges.find(position, length);
      if (found >= 0) {
        return found;
      }
    }
    if (isFar && length > 0 && !table.isReadInOrder() && !file(chunkOrdinal).isSmall()) {
      // A gather reads no region: such as a block that was at hand when places were looked up.
      return fetcher.fetchNow(file(chunkOrdinal), position, (int) length);
    }
    int window = ready(chunkOrdinal, position, length);
    return window == WindowTable.EMPTY
        ? 0
        : Place.of(window, chunks[chunkOrdinal].within(position));
  }

  private int ready(int chunkOrdinal, long position, long length) {
    int first = firstWindows[chunkOrdinal];
    if (first == NOT_ADDED) {
      int ordinal = field.shardChunk(chunkOrdinal);
      first = table.add(shard, ordinal, metrics);
      chunks[chunkOrdinal] = shard.chunk(ordinal, metrics).windows();
      firstWindows[chunkOrdinal] = first;
    }
    Windows chunk = chunks[chunkOrdinal];
    if (!table.isReady(first, chunk, position, length)) {
      long ahead = table.isReadInOrder() ? field.endBytes(chunkOrdinal, position) : 0;
      table.prepare(first, chunk, position, length, ahead, metrics);
    }
    int window = length == 0 ? WindowTable.EMPTY : first + chunk.ordinal(position);
    if (chunk.count() == 1 && window == first) {
      wholeWindows[chunkOrdinal] = window;
    }
    return window;
  }

  /** Returns the number of the window of values that lie side by side, always the same ones. */
  int window(ByteBuffer values) {
    if (valuesWindow == NOT_ADDED) {
      valuesWindow = table.addPage(values);
    }
    return valuesWindow;
  }

  /** Returns the bytes of a chunk. */
  Windows file(int chunkOrdinal) {
    return shard.chunk(field.shardChunk(chunkOrdinal), metrics).windows();
  }

  /** Says which bytes of a chunk were fetched for a selection. */
  void setFetched(int chunkOrdinal, FetchedRanges ranges) {
    if (fetched == null) {
      fetched = new FetchedRanges[chunks.length];
    }
    fetched[chunkOrdinal] = ranges;
  }

  /** Forgets what was fetched. */
  void forgetFetched() {
    fetched = null;
  }

  /** Forgets what was fetched, and which windows are ready. */
  void forgetWindows() {
    fetched = null;
    Arrays.fill(wholeWindows, NOT_ADDED);
  }

  /** Returns the full path of a chunk. */
  String path(int chunkOrdinal) {
    return shard.pathOf(shard.chunks().get(field.shardChunk(chunkOrdinal)));
  }

  /** Forgets the shard, so that the next reader opens its files again. */
  void forgetShard() {
    shard.forget();
  }

  /** Checks that no file of the shard is shorter than published. */
  void requireWholeFiles(InternalError error) {
    shard.requireWholeFiles(error);
  }
}
