package io.zrecord.internal.store.repair;

import io.zrecord.internal.dataset.RepairAction;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.verify.CarriedBytes;
import io.zrecord.internal.store.verify.JournalScan;
import io.zrecord.internal.store.verify.StoreState;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Plans the steps that make the journal of a store readable again. Bytes that are cut off are kept
 * in a file of their own.
 */
final class JournalRepair {
  private static final int COPY_BYTES = 1 << 20;

  private final MutableFiles files;
  private final StoreState state;
  private final JournalScan journal;
  private final String copyName;
  private final Runnable check;

  /**
   * Plans a repair.
   *
   * @param check runs when a file is open, before the file is changed; throws if another writer has
   *     come
   */
  JournalRepair(MutableFiles files, StoreState state, Runnable check) {
    this.files = files;
    this.check = check;
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
    try (MutableFile file = files.exists(JournalRecord.FILE_NAME)
        ? files.open(JournalRecord.FILE_NAME, true)
        : files.create(JournalRecord.FILE_NAME)) {
      check.run();
      if (empties) {
        file.setLength(0);
      }
      file.write(0, ByteBuffer.wrap(new JournalHeader(state.meta().shard().id()).encode()));
      file.force();
    }
    files.forceDirectory("");
  }

  /**
   * Replaces the lost bytes by a record that changes only the ends of chunks. Values of later
   * commits, which the tables may name, must stay within the chunks, and be there.
   */
  private void cut(JournalScan.Damage damage) {
    copyFrom(damage.atByte());
    writeCarried(damage.atByte());
    try (MutableFile file = files.open(JournalRecord.FILE_NAME, true)) {
      check.run();
      ByteBuffer record = recordOfChunks(file, damage.atByte());
      long end = damage.atByte() + record.remaining();
      // With this order of writes the journal stays damaged until it is whole, wherever the repair
      // is cut short.
      file.write(damage.atByte(), record);
      file.force();
      file.setLength(end);
      file.force();
    }
  }

  /** Writes what the lost records carry to the chunks. */
  private void writeCarried(long position) {
    try (MutableFile from = files.open(JournalRecord.FILE_NAME, false)) {
      for (CarriedBytes.Piece piece : journal.carried().from(position)) {
        ByteBuffer bytes = ByteBuffer.allocate(piece.bytes());
        from.read(piece.journalAt(), bytes);
        try (MutableFile to = files.open(ChunkMeta.fileName(piece.chunk()), true)) {
          check.run();
          to.write(piece.position(), bytes.flip());
          to.force();
        }
      }
    }
  }

  private ByteBuffer recordOfChunks(MutableFile file, long at) {
    Collection<ChunkMeta> chunks = journal.changedChunks();
    Binding binding = new Binding(state.meta().shard().id(), 0);
    JournalRecord.Encoder encoder = new JournalRecord.Encoder(binding);
    int fields = state.meta().shard().fields().size();
    encoder.begin(journal.sequence() + 1, 0, journal.length(), fields, chunks.size(), 0);
    chunks.forEach(chunk -> encoder.chunk(JournalChunk.forced(chunk)));
    int bytes = encoder.bytes();
    while (isFollowed(file, at + bytes)) {
      bytes += JournalRecord.ALIGNMENT;
    }
    return encoder.end(bytes);
  }

  /**
   * Tells whether the next record starts at {@code at}. Until it is cut off, such a record would
   * count as if nothing were lost.
   */
  private boolean isFollowed(MutableFile file, long at) {
    ByteBuffer header = ByteBuffer.allocate(2 * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    return file.read(at, header) == header.capacity()
        && JournalRecord.isMagic(header, 0)
        && JournalRecord.sequenceAt(header, 0) == journal.sequence() + 2;
  }

  private void copyFrom(long position) {
    try (MutableFile from = files.open(JournalRecord.FILE_NAME, false);
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
