package io.zrecord.internal.online;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.DiskFullException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.TruncatedFileException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.Stems;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.Closing;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The writer of a store. Operations store their values in chunks, side by side, and then take their place in the group that is being
 * collected. A commit takes the group over and makes it safe: chunks, then the journal, then the tables, then the length that readers
 * see; meanwhile the next group is collected, and whoever waits to commit it finds it done by the next in line. Thread-safe.
 *
 * <p>A full disk keeps a group from becoming safe, and the next commit tries again. After any other failure of a commit the writer is
 * of no use any more: what reached the medium is unknown, and opening the store again finds out.
 */
public final class StoreCore implements AutoCloseable {
  /** A group is committed by itself when it touches so many records. */
  private static final int MAX_GROUP_RECORDS = 1 << 17;

  /** The same in bytes of entries, which matters where there are many fields. */
  private static final long MAX_GROUP_BYTES = 64L << 20;

  /** Which part of the time of a commit is waited for others to join it. */
  private static final int COMPANY_SHARE = 2;

  private static final long MAX_COMPANY_NANOS = 2_000_000;
  private static final long COMPANY_PAUSE_NANOS = 10_000;

  private final MutableFiles files;
  private final Limits limits;
  private final UUID storeId;
  private final List<FieldSpec> fields;
  private final List<String> stems;
  private final EntryTable[] tables;
  private final ChunkLane[] lanes;
  private final Journal journal;
  private final LiveState live;
  private final AtomicInteger nextChunkId;
  private final long[] valueBytes;
  private final long[] absentCounts;
  private final int maxGroupRecords;

  /** Chunks that are closed, and those that are being written, as of the last commit; guarded by the commit turn. */
  private final Map<Integer, ChunkMeta> closedChunks = new TreeMap<>(Integer::compareUnsigned);

  private final List<ChunkMeta> newlyClosed = new ArrayList<>();
  private boolean chunkNamesChanged;

  private final CommitTurn turn = new CommitTurn();

  /** Of the last group that was published; guarded by the turn. */
  private int lastCommitterCount;

  private long lastPublishNanos;

  /** The most records that were published since the store was opened; guarded by the turn. */
  private long longest;
  /** Guards the two groups and the order of operations. Never held during I/O. */
  private final Object order = new Object();

  private Changes collected;
  private @Nullable Changes inFlight;
  private volatile @Nullable Throwable failure;
  private volatile boolean isClosed;

  /**
   * How a store is written.
   *
   * @param durable whether a commit survives power loss
   * @param chunkRecords records at which a chunk is closed
   * @param chunkBytes bytes at which a chunk is closed
   * @param laneCount chunks that are written side by side
   * @param checkpointBytes length of the journal at which the tables are forced instead
   * @param closeTimeout how long closing waits for a commit that does not end
   */
  public record Limits(
      boolean durable,
      long chunkRecords,
      long chunkBytes,
      int laneCount,
      long checkpointBytes,
      Duration closeTimeout) {}

  /**
   * What opening found.
   *
   * @param replayedRecords journal records that the tables had to be given again
   * @param droppedBytes bytes of a last record that was not whole, which nobody was told of as committed
   */
  public record Recovery(long replayedRecords, long droppedBytes) {}

  private Recovery recovery = new Recovery(0, 0);

  private StoreCore(
      MutableFiles files, Limits limits, StoreMeta meta, EntryTable[] tables, Journal journal) {
    this.files = files;
    this.limits = limits;
    this.storeId = meta.shard().id();
    this.fields = meta.shard().fields().stream().map(FieldMeta::spec).toList();
    this.stems = meta.shard().fields().stream().map(FieldMeta::stem).toList();
    this.tables = tables;
    this.journal = journal;
    this.valueBytes =
        meta.shard().fields().stream().mapToLong(FieldMeta::valueBytes).toArray();
    this.absentCounts =
        meta.shard().fields().stream().mapToLong(FieldMeta::absentCount).toArray();
    this.live = LiveState.beginRecovery(files, storeId);
    this.nextChunkId = new AtomicInteger();
    this.lanes = new ChunkLane[limits.laneCount()];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new ChunkLane(
          files,
          storeId,
          fields,
          limits.chunkRecords(),
          limits.chunkBytes(),
          nextChunkId::getAndIncrement);
    }
    this.maxGroupRecords = (int) Math.max(
        1,
        Math.min(
            MAX_GROUP_RECORDS,
            MAX_GROUP_BYTES / ((long) Math.max(1, fields.size()) * EntryTable.STORED_BYTES)));
    this.collected = new Changes(fields.size(), meta.shard().length());
  }

  /** Makes an empty store. The meta file comes last: without it there is no store. */
  public static StoreCore create(MutableFiles files, RecordSchema schema, Limits limits) {
    UUID storeId = UUID.randomUUID();
    List<String> stems = Stems.of(schema.fields());
    EntryTable[] tables = new EntryTable[stems.size()];
    List<FieldMeta> fields = new ArrayList<>();
    for (int i = 0; i < tables.length; i++) {
      tables[i] = EntryTable.create(files, stems.get(i));
      fields.add(
          new FieldMeta(schema.fields().get(i), stems.get(i), FieldMeta.Layout.ENTRIES, 0, 0));
    }
    Journal journal = Journal.create(files, storeId);
    StoreMeta meta = new StoreMeta(
        new ShardMeta(
            storeId, 0, true, false, limits.chunkRecords(), limits.chunkBytes(), List.of(), fields),
        List.of(),
        0);
    files.forceDirectory("");
    StoreCore core = new StoreCore(files, limits, meta, tables, journal);
    files.replace(ShardMeta.FILE_NAME, meta.write());
    core.live.endRecovery(0, 0);
    return core;
  }

  /**
   * Opens a store: gives the tables what the journal says that they may lack, and begins a new journal. That can be cut short and
   * begun again at any moment.
   *
   * @throws CorruptDataException if a file is damaged
   */
  public static StoreCore open(MutableFiles files, Limits limits) {
    return open(files, limits, false);
  }

  /** Opens a store that was repaired: commits may be lost that were safe. */
  public static StoreCore openRepaired(MutableFiles files, Limits limits) {
    return open(files, limits, true);
  }

  private static StoreCore open(MutableFiles files, Limits limits, boolean acceptsLoss) {
    StoreMeta meta = StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
    List<AutoCloseable> opened = new ArrayList<>();
    boolean isOpen = false;
    try {
      List<FieldMeta> fields = meta.shard().fields();
      EntryTable[] tables = new EntryTable[fields.size()];
      for (int i = 0; i < tables.length; i++) {
        tables[i] = EntryTable.open(files, fields.get(i).stem(), true);
        opened.add(tables[i]);
        tables[i].requireCapacity(meta.shard().length());
      }
      Journal journal = Journal.open(files, meta.shard().id(), meta.sequence(), true);
      opened.add(journal);
      StoreCore core = new StoreCore(files, limits, meta, tables, journal);
      opened.addAll(List.of(core.lanes));
      core.recover(meta, acceptsLoss);
      isOpen = true;
      return core;
    } finally {
      if (!isOpen) {
        Closing.all(opened);
      }
    }
  }

  private void recover(StoreMeta meta, boolean acceptsLoss) {
    Map<Integer, ChunkMeta> unfull = new TreeMap<>(Integer::compareUnsigned);
    meta.shard().chunks().forEach(chunk -> closedChunks.put(chunk.id(), chunk));
    meta.unfull().forEach(chunk -> unfull.put(chunk.id(), chunk));
    long[] length = {meta.shard().length()};
    long before = journal.sequence();
    long dropped = journal.replay(fields.size(), length[0], new Journal.Visitor() {
      @Override
      public void chunk(ChunkMeta chunk) {
        if (closedChunks.containsKey(chunk.id())) {
          throw new CorruptDataException(
              files.pathOf(Journal.FILE_NAME),
              "Cannot read " + files.pathOf(Journal.FILE_NAME) + ": it goes on with "
                  + chunk.fileName() + ", which was closed before. Restore the store from a copy");
        }
        unfull.put(chunk.id(), chunk);
      }

      @Override
      public void entry(long index, int field, long word0, long word1, int checksum) {
        tables[field].ensureCapacity(index + 1);
        tables[field].put(index, word0, word1, checksum);
      }

      @Override
      public void endRecord(long newLength) {
        length[0] = newLength;
      }
    });
    if (live.sequence() > journal.sequence() && !acceptsLoss) {
      throw new CorruptDataException(
          files.pathOf(Journal.FILE_NAME),
          "Cannot read " + files.pathOf(Journal.FILE_NAME) + ": it ends with record "
              + journal.sequence() + ", but records up to " + live.sequence()
              + " were safe and had begun to change the store. Restore the store from a copy, or repair it: it may"
              + " have some of what the missing records changed");
    }
    recovery = new Recovery(journal.sequence() - before, dropped);
    for (EntryTable table : tables) {
      table.requireCapacity(length[0]);
    }
    resume(unfull);
    if (recovery.replayedRecords() > 0) {
      recount(length[0]);
    }
    synchronized (order) {
      collected = new Changes(fields.size(), length[0]);
    }
    checkpoint(length[0]);
    longest = length[0];
    live.endRecovery(length[0], journal.sequence());
    // What the checkpoint does not name is of a writer or of a rewrite that was killed; its meta
    // file is durable now.
    StoreLeftovers.remove(files, List.of(tables), length[0]);
  }

  private void resume(Map<Integer, ChunkMeta> unfull) {
    int lane = 0;
    int lastId = -1;
    for (ChunkMeta chunk : closedChunks.values()) {
      lastId = chunk.id();
    }
    for (ChunkMeta chunk : unfull.values()) {
      lastId =
          Integer.compareUnsigned(chunk.id(), lastId) > 0 || lastId == -1 ? chunk.id() : lastId;
      try (MutableFile file = files.open(chunk.fileName(), true)) {
        if (file.lengthBytes() < chunk.endBytes()) {
          throw new TruncatedFileException(
              file.path(),
              "Cannot read " + file.path() + ": it has " + file.lengthBytes() + " bytes, but "
                  + chunk.endBytes()
                  + " were published. It was cut; restore it from a copy");
        }
        byte[] header = new byte[ChunkHeader.BYTES];
        file.read(0, ByteBuffer.wrap(header));
        new ChunkHeader(chunk.id(), storeId).check(file.path(), header);
        // What stands behind the end may be what a snapshot has and the store has lost.
        boolean isShared = files.hasOtherNames(chunk.fileName());
        if (lane < lanes.length && !isShared) {
          lanes[lane++].resume(chunk);
        } else {
          if (!isShared) {
            file.setLength(chunk.endBytes());
          }
          file.force();
          chunkNamesChanged = true;
          closedChunks.put(chunk.id(), chunk);
        }
      }
    }
    // A chunk that no journal record names may stand there, from a writer that was killed.
    int next = lastId + 1;
    while (files.exists(ChunkMeta.fileName(next))) {
      next++;
    }
    nextChunkId.set(next);
  }

  /** Commits, and counts bytes and absent values anew: after a repair, which changed the tables behind the store's back. */
  public void recount() {
    commit();
    takeTurn();
    try {
      recount(live.length());
    } finally {
      giveBackTurn();
    }
  }

  /** Counts bytes and absent values anew, for the tables may have been changed in part. */
  private void recount(long length) {
    for (int field = 0; field < tables.length; field++) {
      valueBytes[field] = tables[field].valueBytes(length);
      absentCounts[field] = tables[field].absentCount(length);
    }
  }

  public UUID storeId() {
    return storeId;
  }

  public List<FieldSpec> fields() {
    return fields;
  }

  public Recovery recovery() {
    return recovery;
  }

  /** What readers of this process look at. */
  public StoreParts parts() {
    return new StoreParts(files, storeId, fields, List.of(tables), live, stamp -> true, waited -> {
      if (failure != null) {
        requireUsable();
      }
    });
  }

  /** Records, those of operations that are not committed included. */
  public long pendingLength() {
    synchronized (order) {
      return collected.length();
    }
  }

  /** Records that readers see. */
  public long length() {
    return live.length();
  }

  /**
   * Adds a record at the end; returns its index.
   *
   * @param values of the fields, null where absent
   */
  public long append(byte[] @Nullable [] values) {
    requireUsable();
    Changes.Entries record = new Changes.Entries(fields.size());
    store(values, record);
    long index;
    boolean isLarge;
    synchronized (order) {
      requireUsable();
      index = collected.append(record);
      isLarge = collected.slotCount() >= maxGroupRecords;
    }
    commitIf(isLarge);
    return index;
  }

  /**
   * Replaces values of a record.
   *
   * @param values of the fields, null where absent from now on; what is not {@code isSet} stays
   * @throws IndexOutOfBoundsException if there is no such record, operations not yet committed taken into account
   */
  public void update(long index, byte[] @Nullable [] values, boolean[] isSet) {
    requireUsable();
    requireWithin(index, pendingLength());
    byte[][] stored = values.clone();
    for (int field = 0; field < stored.length; field++) {
      if (!isSet[field]) {
        stored[field] = ChunkLane.KEEP;
      }
    }
    Changes.Entries added = new Changes.Entries(fields.size());
    store(stored, added);
    boolean isLarge;
    synchronized (order) {
      requireUsable();
      requireWithin(index, collected.length());
      Changes.Entries record = load(index);
      for (int field = 0; field < isSet.length; field++) {
        if (isSet[field]) {
          record.words[2 * field] = added.words[2 * field];
          record.words[2 * field + 1] = added.words[2 * field + 1];
          record.checksums[field] = added.checksums[field];
        }
      }
      collected.put(index, record);
      isLarge = collected.slotCount() >= maxGroupRecords;
    }
    commitIf(isLarge);
  }

  /**
   * Deletes a record: the last one takes its place.
   *
   * @return the index that the record had which is at {@code index} now; {@code index} itself if it was the last
   * @throws IndexOutOfBoundsException if there is no such record, operations not yet committed taken into account
   */
  public long delete(long index) {
    long last;
    boolean isLarge;
    synchronized (order) {
      requireUsable();
      requireWithin(index, collected.length());
      last = collected.length() - 1;
      if (index != last) {
        collected.put(index, load(last));
      }
      collected.shrink();
      isLarge = collected.slotCount() >= maxGroupRecords;
    }
    commitIf(isLarge);
    return last;
  }

  private void commitIf(boolean isLarge) {
    if (isLarge) {
      commit();
    }
  }

  /** In the first chunk that nobody is writing to, so that one thread, or many that write little, leave one chunk to be forced. */
  private void store(byte[] @Nullable [] values, Changes.Entries target) {
    for (ChunkLane lane : lanes) {
      if (lane.tryStore(values, target)) {
        return;
      }
    }
    lanes[(int) (Thread.currentThread().getId() % lanes.length)].store(values, target);
  }

  /** The entries of a record as the last operation left them. */
  private Changes.Entries load(long index) {
    Changes.Entries record = new Changes.Entries(fields.size());
    Changes before = inFlight;
    if (collected.find(index, record) || (before != null && before.find(index, record))) {
      return record;
    }
    for (int field = 0; field < tables.length; field++) {
      record.words[2 * field] = tables[field].word0(index);
      record.words[2 * field + 1] = tables[field].word1(index);
      record.checksums[field] = tables[field].checksum(index);
    }
    return record;
  }

  /** Makes all operations that returned before safe and visible, as the durability says. */
  public void commit() {
    Changes mine;
    synchronized (order) {
      requireUsable();
      mine = collected.isEmpty() ? inFlight : collected;
      if (mine != null) {
        mine.waiters().join();
      }
    }
    if (mine == null) {
      return;
    }
    while (!mine.waiters().isPublished()) {
      if (turn.tryTake()) {
        inTurn(() -> commitUpTo(mine));
      } else {
        mine.waiters().await(turn::isFree);
      }
    }
  }

  private void commitUpTo(Changes mine) {
    awaitCompany(mine);
    publishUpTo(mine);
    if (journal.lengthBytes() >= limits.checkpointBytes()) {
      checkpoint(live.length());
    }
  }

  /** Does what the turn was taken for, and gives it back. Whatever fails but for want of space ends the writer. */
  private void inTurn(Runnable work) {
    try {
      requireUsable();
      try {
        work.run();
      } catch (DiskFullException e) {
        throw e;
      } catch (RuntimeException | Error e) {
        failure = e;
        throw e;
      }
    } finally {
      giveBackTurn();
    }
  }

  /** Others may be waiting for the turn, with the group that is collected now or one that could not be published. */
  private void giveBackTurn() {
    turn.giveBack();
    synchronized (order) {
      boolean isOver = failure != null || isClosed;
      for (Changes group : inFlight == null ? List.of(collected) : List.of(inFlight, collected)) {
        if (isOver) {
          group.waiters().wakeAll();
        } else {
          group.waiters().wakeOne();
        }
      }
    }
  }

  /**
   * Threads that shared the last force will be back in a moment, each with one more record: whoever is there first waits for them a
   * little, a small part of what the force will take, instead of forcing alone. One thread on its own never waits.
   */
  private void awaitCompany(Changes group) {
    int expected = lastCommitterCount;
    long start = System.nanoTime();
    while (group.waiters().committerCount() < expected
        && System.nanoTime() - start
            < Math.min(lastPublishNanos / COMPANY_SHARE, MAX_COMPANY_NANOS)) {
      LockSupport.parkNanos(COMPANY_PAUSE_NANOS);
    }
  }

  private void publishUpTo(@Nullable Changes last) {
    while (last != null && takeOver(last)) {
      Changes group = Objects.requireNonNull(inFlight);
      long start = System.nanoTime();
      publish(group);
      lastPublishNanos = System.nanoTime() - start;
      lastCommitterCount = group.waiters().committerCount();
      synchronized (order) {
        inFlight = null;
      }
      group.waiters().setPublished();
    }
  }

  /** Puts the next group in flight, unless the one asked for has arrived. */
  private boolean takeOver(Changes mine) {
    synchronized (order) {
      if (mine != inFlight && mine != collected) {
        return false;
      }
      if (inFlight == null) {
        inFlight = collected;
        collected = new Changes(fields.size(), inFlight.length());
      }
      return true;
    }
  }

  private void publish(Changes group) {
    for (EntryTable table : tables) {
      table.ensureCapacity(group.length());
    }
    List<ChunkMeta> chunks = commitChunks(limits.durable());
    chunks.addAll(newlyClosed);
    journal.append(group, fields.size(), chunks);
    if (limits.durable()) {
      journal.force();
    }
    newlyClosed.forEach(chunk -> closedChunks.put(chunk.id(), chunk));
    newlyClosed.clear();
    live.beginGroup(journal.sequence());
    apply(group);
  }

  /** Flushes the chunks, and forces them if wanted; returns those that are being written. Newly closed ones are noted. */
  private List<ChunkMeta> commitChunks(boolean forces) {
    List<ChunkMeta> current = new ArrayList<>();
    for (ChunkLane lane : lanes) {
      ChunkLane.Flushed flushed = lane.flush(forces);
      chunkNamesChanged |= flushed.hasNewName();
      newlyClosed.addAll(flushed.closed());
      if (flushed.current() != null) {
        current.add(flushed.current());
      }
      lane.force(flushed);
    }
    if (chunkNamesChanged && forces) {
      files.forceDirectory("chunk");
      chunkNamesChanged = false;
    }
    return current;
  }

  /** All at once for readers: those that look at what changes wait until the whole group is there. */
  private void apply(Changes group) {
    count(group, live.length());
    live.beginChange();
    for (int slot = 0; slot < group.slotCount(); slot++) {
      // Nobody can have looked at records that never were within the length.
      if (group.index(slot) < longest) {
        live.change(group.index(slot));
      }
    }
    live.beginStores();
    for (int slot = 0; slot < group.slotCount(); slot++) {
      put(group, slot);
    }
    live.publish(group.length());
    live.endChange();
    longest = Math.max(longest, group.length());
  }

  private void put(Changes group, int slot) {
    long index = group.index(slot);
    if (index < group.length()) {
      for (int field = 0; field < tables.length; field++) {
        tables[field].put(
            index, group.word0(slot, field), group.word1(slot, field), group.checksum(slot, field));
      }
    }
  }

  private void count(Changes group, long published) {
    for (int field = 0; field < tables.length; field++) {
      for (int slot = 0; slot < group.slotCount(); slot++) {
        long index = group.index(slot);
        if (index < group.length()) {
          count(field, group.word0(slot, field), group.word1(slot, field), 1);
          if (index < published) {
            count(field, tables[field].word0(index), tables[field].word1(index), -1);
          }
        }
      }
      for (long index = group.length(); index < published; index++) {
        count(field, tables[field].word0(index), tables[field].word1(index), -1);
      }
    }
  }

  private void count(int field, long word0, long word1, int sign) {
    valueBytes[field] += sign * (Entry.physicalLength(word1) & 0xffff_ffffL);
    absentCounts[field] += Entry.isAbsent(word0, word1) ? sign : 0;
  }

  private void takeTurn() {
    boolean isMine = false;
    while (!isMine) {
      isMine = turn.take(limits.closeTimeout());
    }
  }

  /** Forces the tables and empties the journal. */
  public void checkpoint() {
    commit();
    takeTurn();
    inTurn(() -> checkpoint(live.length()));
  }

  private void checkpoint(long length) {
    // Chunks first: with durability NONE nothing was forced so far.
    List<ChunkMeta> unfull = commitChunks(true);
    newlyClosed.forEach(chunk -> closedChunks.put(chunk.id(), chunk));
    newlyClosed.clear();
    for (EntryTable table : tables) {
      table.force();
    }
    requireCounts(length);
    // The journal is emptied next: what nobody could read would be the end of the store.
    files.replace(
        ShardMeta.FILE_NAME, meta(length, unfull).writeReadable(files.pathOf(ShardMeta.FILE_NAME)));
    journal.empty();
  }

  /** Entries that were damaged are taken from the sums as they are now, not as they were when they were added. */
  private void requireCounts(long length) {
    for (int field = 0; field < tables.length; field++) {
      if (valueBytes[field] < 0 || absentCounts[field] < 0 || absentCounts[field] > length) {
        recount(length);
        return;
      }
    }
  }

  private StoreMeta meta(long length, List<ChunkMeta> unfull) {
    List<FieldMeta> fieldMetas = new ArrayList<>();
    for (int i = 0; i < tables.length; i++) {
      fieldMetas.add(new FieldMeta(
          fields.get(i), stems.get(i), FieldMeta.Layout.ENTRIES, absentCounts[i], valueBytes[i]));
    }
    return new StoreMeta(
        new ShardMeta(
            storeId,
            length,
            true,
            false,
            limits.chunkRecords(),
            limits.chunkBytes(),
            List.copyOf(closedChunks.values()),
            fieldMetas),
        unfull,
        journal.sequence());
  }

  /** Deletes the files of a store of which a table was made: what the table needs has names of its own. */
  public static void deleteFiles(MutableFiles files) {
    StoreMeta meta = StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
    for (FieldMeta field : meta.shard().fields()) {
      EntryTable.delete(files, field.stem());
    }
    files.delete("chunk");
    files.delete(Journal.FILE_NAME);
    files.delete(LiveState.FILE_NAME);
    files.delete(ShardMeta.FILE_NAME);
  }

  static void requireWithin(long index, long length) {
    if (index < 0 || index >= length) {
      throw new IndexOutOfBoundsException("There is no record " + index + ": the store has "
          + length + " records, with indices from 0 to " + (length - 1));
    }
  }

  private void requireUsable() {
    Throwable cause = failure;
    if (cause != null) {
      throw new StorageException(
          files.location(),
          "Cannot write to " + files.location()
              + ": a commit failed before (" + cause.getMessage()
              + "). What was acknowledged is safe; close the store and open it again",
          cause);
    }
    if (isClosed) {
      throw new IllegalStateException(
          "The store " + files.location() + " is closed; open it again");
    }
  }

  /**
   * Commits, checkpoints and closes the files. A store that failed is closed as it is; opening it again recovers it.
   *
   * @throws StorageException if a commit does not end in time; the files stay open then
   */
  @Override
  public void close() {
    if (isClosed) {
      return;
    }
    if (!turn.take(limits.closeTimeout())) {
      throw new StorageException(
          files.location(),
          "Cannot close " + files.location() + ": a commit of another thread has not ended for "
              + limits.closeTimeout().toSeconds()
              + " s; the medium may hang. What was acknowledged is safe. The store is locked until this process ends");
    }
    try {
      if (failure == null && !isClosed) {
        Changes last;
        synchronized (order) {
          last = collected.isEmpty() ? inFlight : collected;
        }
        publishUpTo(last);
        checkpoint(live.length());
        live.force(files);
      }
    } finally {
      isClosed = true;
      try {
        closeFiles();
      } finally {
        giveBackTurn();
      }
    }
  }

  private void closeFiles() {
    for (ChunkLane lane : lanes) {
      lane.close();
    }
    for (EntryTable table : tables) {
      table.close();
    }
    journal.close();
  }

  public boolean isClosed() {
    return isClosed;
  }
}
