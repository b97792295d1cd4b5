package io.zrecord.verify;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.verify.Finding.Kind;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** The files of a field's entries and of their checksums (FORMAT.md section 4). Belongs to one thread. */
final class EntryFiles implements AutoCloseable {
  private final MutableFiles files;
  private final String entriesName;
  private final String checksumsName;
  private final String field;
  private final boolean hasChecksums;
  private byte[] bytes = new byte[0];
  private @Nullable FileWindow entries;
  private @Nullable FileWindow checksums;

  EntryFiles(MutableFiles files, String prefix, FieldMeta field, boolean hasChecksums) {
    this.files = files;
    this.entriesName = prefix + field.stem() + ".offset";
    this.checksumsName = prefix + field.stem() + ".crc32c";
    this.field = field.spec().name();
    this.hasChecksums = hasChecksums;
  }

  /** Full path of the file of the entries. */
  String path() {
    return files.pathOf(entriesName);
  }

  /** Opens the files and checks that they have room for so many records; says what is wrong. */
  void check(CheckRun run, long recordCount) {
    entries = open(run, entriesName, recordCount * Entry.BYTES);
    if (hasChecksums) {
      checksums = open(run, checksumsName, recordCount * Integer.BYTES);
    }
  }

  private @Nullable FileWindow open(CheckRun run, String name, long neededBytes) {
    try {
      FileWindow window = new FileWindow(files.open(name, false));
      if (window.lengthBytes() < neededBytes) {
        run.found(
            Kind.ENTRY_FILE,
            window.path(),
            field,
            "it has " + window.lengthBytes() + " bytes, but " + neededBytes + " were published");
      }
      return window;
    } catch (ZRecordException e) {
      run.found(Kind.ENTRY_FILE, files.pathOf(name), field, ChunkFiles.reason(e));
      return null;
    }
  }

  /** Loads the entries of {@code [first, first + count)}; those that are not in the files are marked as missing. */
  void load(long first, int count, EntryBlock block) {
    if (bytes.length < count * Entry.BYTES) {
      bytes = new byte[count * Entry.BYTES];
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    int read = read(entries, first * Entry.BYTES, count * Entry.BYTES) / Entry.BYTES;
    for (int k = 0; k < count; k++) {
      block.isMissing[k] = k >= read;
      block.words[2 * k] = k < read ? buffer.getLong(k * Entry.BYTES) : 0;
      block.words[2 * k + 1] = k < read ? buffer.getLong(k * Entry.BYTES + Long.BYTES) : 0;
    }
    if (hasChecksums) {
      read = read(checksums, first * Integer.BYTES, count * Integer.BYTES) / Integer.BYTES;
      for (int k = 0; k < count; k++) {
        block.isMissing[k] |= k >= read;
        block.checksums[k] = k < read ? buffer.getInt(k * Integer.BYTES) : 0;
      }
    }
  }

  private int read(@Nullable FileWindow window, long position, int length) {
    return window == null ? 0 : window.read(position, bytes, 0, length);
  }

  @Override
  public void close() {
    if (entries != null) {
      entries.close();
    }
    if (checksums != null) {
      checksums.close();
    }
  }
}
