package io.zrecord.internal.store.verify;

import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.HeaderVersion;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.verify.CheckRun;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.UUID;

/**
 * Checks the file {@code live} of a store (FORMAT.md section 9). The file has no data of its own.
 */
final class LiveCheck {
  static final String FILE_NAME = "live";

  private static final byte[] MAGIC = "ZRECLIVE".getBytes(StandardCharsets.US_ASCII);
  private static final int FILE_BYTES = 8384;
  private static final int CRC_AT = 40;
  private static final int LENGTH_AT = 64;
  private static final int SEQUENCE_AT = 72;
  private static final int STAMP_AT = 128;
  private static final int STATE_AT = 136;
  private static final long CLOSED = 2;
  private static final long WITHDRAWN = -1;
  private static final String REMEDY =
      "; opening the store for writing makes it anew, as repairing does";

  private final CheckRun run;
  private final MutableFiles files;

  LiveCheck(CheckRun run, MutableFiles files) {
    this.run = run;
    this.files = files;
  }

  void check(StoreState state) {
    String path = files.pathOf(FILE_NAME);
    if (!files.exists(FILE_NAME)) {
      run.found(Kind.LIVE, path, "there is no such file" + REMEDY);
      return;
    }
    byte[] found = new byte[FILE_BYTES];
    ByteBuffer bytes = ByteBuffer.wrap(found).order(ByteOrder.LITTLE_ENDIAN);
    long fileBytes;
    try (MutableFile file = files.open(FILE_NAME, false)) {
      fileBytes = file.lengthBytes();
      file.read(0, ByteBuffer.wrap(found));
    }
    boolean isWhole = Arrays.equals(found, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
        && bytes.getInt(CRC_AT) == Crc32c.of(found, 0, CRC_AT);
    if (isWhole) {
      HeaderVersion.requireKnown(path, found);
      HeaderVersion.requirePlain(path, found, FILE_BYTES, 32, CRC_AT);
    }
    UUID id = state.meta().shard().id();
    ByteBuffer uuid = ByteBuffer.wrap(found, 16, 16);
    if (fileBytes != FILE_BYTES
        || !isWhole
        || uuid.getLong() != id.getMostSignificantBits()
        || uuid.getLong() != id.getLeastSignificantBits()) {
      run.found(Kind.LIVE, path, "it is damaged, or it is of another store" + REMEDY);
    } else if (bytes.getLong(SEQUENCE_AT) > state.journal().sequence()
        && state.journal().damage() == null) {
      run.found(
          Kind.LIVE,
          path,
          "it says that commits up to " + bytes.getLong(SEQUENCE_AT)
              + " were safe, but the journal ends with " + state.journal().sequence()
              + ": the others are lost, but for what had reached the tables; repairing accepts that");
    } else if (bytes.getLong(STATE_AT) == CLOSED
        && state.journal().damage() == null
        && !isOfClosedStore(state, bytes)) {
      run.found(
          Kind.LIVE,
          path,
          "it says that the store was closed with " + bytes.getLong(LENGTH_AT)
              + " records after commit " + bytes.getLong(SEQUENCE_AT)
              + ", but the meta file says " + state.meta().shard().length()
              + " records and commit " + state.meta().sequence()
              + (state.journal().isEmpty() ? "" : ", and the journal is not empty")
              + ": the files are of different moments; repairing takes them as they are");
    } else if (bytes.getLong(STAMP_AT) == WITHDRAWN) {
      run.found(Kind.LIVE, path, "a repair was cut short" + REMEDY);
    } else if ((bytes.getLong(STAMP_AT) & 1) == 0
        && state.isCheckpointed()
        && (bytes.getLong(LENGTH_AT) != state.journal().length()
            || bytes.getLong(SEQUENCE_AT) != state.journal().sequence())) {
      run.found(
          Kind.LIVE,
          path,
          "it says " + bytes.getLong(LENGTH_AT) + " records and commit "
              + bytes.getLong(SEQUENCE_AT) + ", but the store has "
              + state.journal().length()
              + " and " + state.journal().sequence() + REMEDY);
    }
  }

  private static boolean isOfClosedStore(StoreState state, ByteBuffer live) {
    return state.journal().isEmpty()
        && live.getLong(LENGTH_AT) == state.meta().shard().length()
        && live.getLong(SEQUENCE_AT) == state.meta().sequence();
  }
}
