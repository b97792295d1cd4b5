package io.zrecord.internal.store.verify;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.EntryBlock;
import io.zrecord.internal.verify.EntrySource;
import io.zrecord.internal.verify.FileProblem;
import io.zrecord.internal.verify.FileWindow;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The files of the entries of a field of a store, and of their checksums (FORMAT.md section 9).
 * Belongs to one thread.
 */
final class EntryFiles implements EntrySource {
  /** Records read at a time after a failure: a page of entries. */
  private static final int STEP_RECORDS = 256;

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

  @Override
  public String path() {
    return files.pathOf(entriesName);
  }

  /**
   * Opens the files, checks that they are long enough for {@code recordCount} records, and reports
   * what is wrong.
   */
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
      run.found(Kind.ENTRY_FILE, files.pathOf(name), field, FileProblem.of(e));
      return null;
    }
  }

  @Override
  public long presentCount() {
    long present = entries == null ? 0 : entries.lengthBytes() / Entry.BYTES;
    if (!hasChecksums) {
      return present;
    }
    return checksums == null ? 0 : Math.min(present, checksums.lengthBytes() / Integer.BYTES);
  }

  @Override
  public void load(long first, int count, EntryBlock block) {
    if (bytes.length < count * Entry.BYTES) {
      bytes = new byte[count * Entry.BYTES];
    }
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    Arrays.fill(block.isMissing, 0, count, false);
    read(entries, first, count, Entry.BYTES, block.isMissing);
    for (int k = 0; k < count; k++) {
      block.words[2 * k] = buffer.getLong(k * Entry.BYTES);
      block.words[2 * k + 1] = buffer.getLong(k * Entry.BYTES + Long.BYTES);
    }
    if (hasChecksums) {
      read(checksums, first, count, Integer.BYTES, block.isMissing);
      for (int k = 0; k < count; k++) {
        block.checksums[k] = buffer.getInt(k * Integer.BYTES);
      }
    }
  }

  /**
   * Reads a file's part of each record, in steps, so that a bad sector costs few records. Marks
   * records that cannot be read.
   */
  private void read(
      @Nullable FileWindow window, long first, int count, int width, boolean[] isMissing) {
    for (int from = 0; from < count; from += STEP_RECORDS) {
      int to = Math.min(count, from + STEP_RECORDS);
      int there = from;
      try {
        if (window != null) {
          long position = (first + from) * width;
          there += window.read(position, bytes, from * width, (to - from) * width) / width;
        }
      } catch (StorageException e) {
        FileProblem.requireOfContent(e);
        there = from; // Perhaps a bad sector: other bytes can be read.
      }
      Arrays.fill(isMissing, there, to, true);
      Arrays.fill(bytes, there * width, to * width, (byte) 0);
    }
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
