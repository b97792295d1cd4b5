package io.zrecord.verify;

import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/** Plans what makes the journal of a store readable again. What is cut off is kept in a file of its own. */
final class JournalRepair {
  private static final int COPY_BYTES = 1 << 20;

  private final MutableFiles files;
  private final StoreState state;
  private final JournalScan journal;
  private final String copyName;

  JournalRepair(MutableFiles files, StoreState state) {
    this.files = files;
    this.state = state;
    this.journal = state.journal();
    int number = 1;
    while (files.exists("journal.damaged-" + number)) {
      number++;
    }
    this.copyName = "journal.damaged-" + number;
  }

  List<RepairAction> actions() {
    List<RepairAction> actions = new ArrayList<>();
    switch (journal.header()) {
      case SOUND -> {}
      case DAMAGED ->
        actions.add(
            new RepairAction("write the header of the journal again", () -> writeHeader(false)));
      case FOREIGN ->
        actions.add(new RepairAction(
            "keep the journal of another store as " + copyName
                + " and begin a new one: what was committed since the last checkpoint is lost",
            () -> {
              copyFrom(0);
              writeHeader(true);
            }));
      case MISSING ->
        actions.add(new RepairAction(
            "begin a new journal: what was committed since the last checkpoint is lost",
            () -> writeHeader(true)));
    }
    JournalScan.Damage damage = journal.damage();
    if (damage != null) {
      actions.add(new RepairAction(
          "cut the journal at byte " + damage.atByte() + ": commits " + damage.firstSequence()
              + " to " + damage.lastSequence() + " are lost (" + damage.lostBytes()
              + " bytes, kept as " + copyName + "), the store goes back to "
              + journal.length()
              + " records; changes of those commits to older records may stay where they had"
              + " reached the tables",
          () -> cut(damage)));
    }
    return actions;
  }

  private void writeHeader(boolean empties) {
    try (MutableFile file = files.exists(JournalScan.FILE_NAME)
        ? files.open(JournalScan.FILE_NAME, true)
        : files.create(JournalScan.FILE_NAME)) {
      if (empties) {
        file.setLength(0);
      }
      file.write(0, ByteBuffer.wrap(JournalHeader.encode(state.meta().shard().id())));
      file.force();
    }
    files.forceDirectory("");
  }

  /**
   * Puts in the place of what is lost a record that changes nothing but the ends of chunks: values that later commits wrote, and
   * that the tables may name, must stay within them.
   */
  private void cut(JournalScan.Damage damage) {
    copyFrom(damage.atByte());
    try (MutableFile file = files.open(JournalScan.FILE_NAME, true)) {
      byte[] record = recordOfChunks(file, damage.atByte());
      // In this order the journal is damaged until it is whole, whenever this is cut short.
      file.write(damage.atByte(), ByteBuffer.wrap(record));
      file.force();
      file.setLength(damage.atByte() + record.length);
      file.force();
    }
  }

  private byte[] recordOfChunks(MutableFile file, long at) {
    Collection<ChunkMeta> chunks = journal.changedChunks();
    int bytes = JournalScan.RECORD_HEADER_BYTES
        + JournalScan.COUNTS_BYTES
        + chunks.size() * JournalScan.CHUNK_BYTES;
    while (isFollowed(file, at + bytes)) {
      bytes += Long.BYTES;
    }
    byte[] record = new byte[bytes];
    ByteBuffer buffer = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(JournalScan.RECORD_MAGIC).putInt(bytes).putLong(journal.sequence() + 1);
    buffer.putLong(0).putLong(0);
    buffer.putLong(journal.length()).putInt(state.meta().shard().fields().size());
    buffer.putInt(chunks.size()).putInt(0).putInt(0);
    for (ChunkMeta chunk : chunks) {
      buffer.putInt(chunk.id()).putInt(0).putLong(chunk.recordCount()).putLong(chunk.endBytes());
    }
    return buffer.putInt(20, Crc32c.of(record)).array();
  }

  /** Whether the next record begins there: before it is cut off it would count, as if nothing were lost. */
  private boolean isFollowed(MutableFile file, long at) {
    ByteBuffer header = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return file.read(at, header) == header.capacity()
        && header.getInt(0) == JournalScan.RECORD_MAGIC
        && header.getLong(Long.BYTES) == journal.sequence() + 2;
  }

  private void copyFrom(long position) {
    try (MutableFile from = files.open(JournalScan.FILE_NAME, false);
        MutableFile to = files.create(copyName)) {
      ByteBuffer piece = ByteBuffer.allocate(COPY_BYTES);
      for (long at = position; from.read(at, piece.clear()) > 0; ) {
        int count = piece.flip().remaining();
        to.write(at - position, piece);
        at += count;
      }
      to.force();
    }
    files.forceDirectory("");
  }
}
