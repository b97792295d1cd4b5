package io.zrecord.internal.store.repair;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.dataset.RepairAction;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.Closing;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.verify.CarriedBytes;
import io.zrecord.internal.store.verify.StoreState;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/**
 * Plans the steps that make the files of a store whole again, so that the store can be opened.
 * Missing or cut files get zeros in place of the lost bytes, and known headers are written again.
 * The lost values are damaged values after that. Stateless except for its parameters.
 */
final class StoreFilesRepair {
  private static final int ZEROS_BYTES = 1 << 20;

  private final MutableFiles files;
  private final StoreState state;
  private final Runnable check;
  private final List<RepairAction> actions = new ArrayList<>();

  /**
   * Plans a repair.
   *
   * @param check runs when a file is open, before the file is changed; throws if another writer has
   *     come
   */
  StoreFilesRepair(MutableFiles files, StoreState state, Runnable check) {
    this.files = files;
    this.state = state;
    this.check = check;
  }

  /**
   * Returns the steps; empty if all files are whole.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if a chunk is of a later format
   */
  List<RepairAction> actions() {
    UUID id = state.meta().shard().id();
    for (ChunkMeta chunk : state.chunks()) {
      planLength(chunk);
      planHeader(chunk, new ChunkHeader(chunk.id(), id));
    }
    long length = state.meta().shard().length();
    for (FieldMeta field : state.meta().shard().fields()) {
      planLength(field.stem() + ".offset", length * Entry.BYTES);
      planLength(field.stem() + ".crc32c", length * Integer.BYTES);
    }
    return actions;
  }

  /** Plans the length of a chunk, unless opening the store writes what is missing. */
  private void planLength(ChunkMeta chunk) {
    boolean exists = files.exists(chunk.fileName());
    long present = exists
        ? state.journal().carried().lengthAfter(chunk.id(), lengthBytes(chunk.fileName()))
        : 0;
    planLength(
        chunk.fileName(),
        exists,
        present,
        chunk.endBytes(),
        (from, to) -> state.journal().carried().within(chunk.id(), from, to));
  }

  private void planLength(String name, long neededBytes) {
    boolean exists = files.exists(name);
    long present = exists ? lengthBytes(name) : 0;
    planLength(name, exists, present, neededBytes, (from, to) -> List.of());
  }

  /** Finds what the journal carries of a range of a chunk. */
  private interface Carried {
    List<CarriedBytes.Piece> within(long from, long to);
  }

  private void planLength(
      String name, boolean exists, long present, long neededBytes, Carried carriedOf) {
    if (!exists || present < neededBytes) {
      actions.add(new RepairAction(
          (exists ? "lengthen " : "make ") + files.pathOf(name) + " from " + present + " to "
              + neededBytes + " bytes, with zeros for what is lost",
          () -> lengthen(name, neededBytes, carriedOf)));
    }
  }

  private long lengthBytes(String name) {
    try (MutableFile file = files.open(name, false)) {
      return file.lengthBytes();
    }
  }

  /**
   * Lengthens a file. Zeros are written out, because a map of a sparse file cannot report a full
   * disk. What the journal carries is written in their place: if this is the late write of a repair
   * that was replaced meanwhile, the bytes are in the chunk and no longer in the journal.
   */
  private void lengthen(String name, long neededBytes, Carried carriedOf) {
    List<MutableFile> opened = new ArrayList<>();
    try {
      MutableFile file = files.exists(name) ? files.open(name, true) : files.create(name);
      opened.add(file);
      List<CarriedBytes.Piece> pieces = carriedOf.within(file.lengthBytes(), neededBytes);
      if (!pieces.isEmpty()) {
        opened.add(files.open(JournalRecord.FILE_NAME, false));
      }
      check.run();
      ByteBuffer block = ByteBuffer.allocate(ZEROS_BYTES);
      for (long at = file.lengthBytes(); at < neededBytes; at += ZEROS_BYTES) {
        Arrays.fill(block.array(), (byte) 0);
        int bytes = (int) Math.min(ZEROS_BYTES, neededBytes - at);
        for (CarriedBytes.Piece piece : pieces) {
          put(piece, opened.get(1), block, at, bytes);
        }
        file.write(at, block.position(0).limit(bytes));
      }
      file.force();
    } finally {
      Closing.all(opened);
    }
    files.forceDirectory(name.startsWith("chunk/") ? "chunk" : "");
  }

  /** Puts what a piece has of the bytes at {@code at} into a block of them. */
  private static void put(
      CarriedBytes.Piece piece, MutableFile journal, ByteBuffer block, long at, int bytes) {
    long first = Math.max(at, piece.position());
    long end = Math.min(at + bytes, piece.position() + piece.bytes());
    if (first < end) {
      block.limit((int) (end - at)).position((int) (first - at));
      journal.read(piece.journalAt() + first - piece.position(), block);
    }
  }

  /**
   * Plans to write a header again. A header of a later format is no damage: the repair refuses it
   * and does not overwrite it.
   */
  private void planHeader(ChunkMeta chunk, ChunkHeader header) {
    byte[] found = new byte[ChunkHeader.BYTES];
    if (files.exists(chunk.fileName())) {
      try (MutableFile file = files.open(chunk.fileName(), false)) {
        file.read(0, ByteBuffer.wrap(found));
      }
    }
    String path = files.pathOf(chunk.fileName());
    try {
      header.check(path, found);
    } catch (CorruptDataException e) {
      actions.add(new RepairAction(
          "write the header of " + path + " again",
          () -> write(chunk.fileName(), header.encode())));
    }
  }

  private void write(String name, byte[] header) {
    try (MutableFile file = files.open(name, true)) {
      check.run();
      file.write(0, ByteBuffer.wrap(header));
      file.force();
    }
  }
}
