package io.zrecord.internal.store.verify;

import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.UUID;

/** The state of the first 64 bytes of a store's journal (FORMAT.md section 9). */
public enum JournalHeaderState {
  SOUND,
  /** The header is damaged; the records after the header can be read. */
  DAMAGED,
  /** The journal belongs to another store. */
  FOREIGN,
  /** There is no file. */
  MISSING;

  /**
   * Determines the state of the header.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the journal is of a later format
   */
  static JournalHeaderState of(MutableFile file, UUID storeId) {
    byte[] found = new byte[JournalHeader.BYTES];
    file.read(0, ByteBuffer.wrap(found));
    if (Arrays.equals(found, new JournalHeader(storeId).encode())) {
      return SOUND;
    }
    if (!JournalHeader.isWhole(found)) {
      return DAMAGED;
    }
    HeaderVersion.requireKnown(file.path(), found);
    HeaderVersion.requirePlain(file.path(), found, JournalHeader.BYTES, 32, 60);
    return FOREIGN;
  }
}
