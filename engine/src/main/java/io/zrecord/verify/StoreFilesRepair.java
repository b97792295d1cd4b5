package io.zrecord.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ChunkHeader;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/**
 * Plans what makes the files of a store whole again, so that it can be opened: files that are missing or cut get zeros in the place of
 * what is lost, and headers that are known are written again. The values that were lost are damaged values then. Stateless but for its
 * parameters.
 */
final class StoreFilesRepair {
  private static final int ZEROS_BYTES = 1 << 20;

  private final MutableFiles files;
  private final StoreState state;
  private final List<RepairAction> actions = new ArrayList<>();

  StoreFilesRepair(MutableFiles files, StoreState state) {
    this.files = files;
    this.state = state;
  }

  /** @throws io.zrecord.errors.UnsupportedFormatException if a chunk is of a later format */
  List<RepairAction> actions() {
    UUID id = state.meta().shard().id();
    for (ChunkMeta chunk : state.chunks()) {
      planLength(chunk.fileName(), chunk.endBytes());
      planHeader(chunk, new ChunkHeader(chunk.id(), id));
    }
    long length = state.meta().shard().length();
    for (FieldMeta field : state.meta().shard().fields()) {
      planLength(field.stem() + ".offset", length * Entry.BYTES);
      planLength(field.stem() + ".crc32c", length * Integer.BYTES);
    }
    return actions;
  }

  private void planLength(String name, long neededBytes) {
    boolean exists = files.exists(name);
    long present = exists ? lengthBytes(name) : 0;
    if (!exists || present < neededBytes) {
      actions.add(new RepairAction(
          (exists ? "lengthen " : "make ") + files.pathOf(name) + " from " + present + " to "
              + neededBytes + " bytes, with zeros for what is lost",
          () -> lengthen(name, neededBytes)));
    }
  }

  private long lengthBytes(String name) {
    try (MutableFile file = files.open(name, false)) {
      return file.lengthBytes();
    }
  }

  /** The zeros are written, because a map of a file with holes cannot say that the disk is full. */
  private void lengthen(String name, long neededBytes) {
    try (MutableFile file = files.exists(name) ? files.open(name, true) : files.create(name)) {
      ByteBuffer zeros = ByteBuffer.allocate(ZEROS_BYTES);
      for (long at = file.lengthBytes(); at < neededBytes; at += ZEROS_BYTES) {
        zeros.clear().limit((int) Math.min(ZEROS_BYTES, neededBytes - at));
        file.write(at, zeros);
      }
      file.force();
    }
    files.forceDirectory(name.startsWith("chunk/") ? "chunk" : "");
  }

  /** A header of a later format is no damage: it is refused, not overwritten. */
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
      file.write(0, ByteBuffer.wrap(header));
      file.force();
    }
  }
}
