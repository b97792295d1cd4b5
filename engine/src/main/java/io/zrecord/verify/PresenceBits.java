package io.zrecord.verify;

import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.Run;
import io.zrecord.internal.format.RunsFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.verify.Finding.Kind;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * The bits that tell which values of a field with runs are present (FORMAT.md section 5). Belongs
 * to one thread.
 */
final class PresenceBits implements AutoCloseable {
  private static final long BITS_PER_BLOCK = 8L * Run.BLOCK_BYTES;

  private final MutableFiles files;
  private final String name;
  private final FieldMeta field;
  private final RunsFile runs;
  private final Binding binding;
  private final byte[] block = new byte[Run.BLOCK_BYTES];
  private long blockInMemory = -1;
  private int bytesInMemory;
  private @Nullable FileWindow window;

  PresenceBits(MutableFiles files, String prefix, FieldMeta field, RunsFile runs, Binding binding) {
    this.files = files;
    this.name = prefix + field.stem() + ".valid";
    this.field = field;
    this.runs = runs;
    this.binding = binding;
  }

  /** Opens the file, checks all of it, and reports what is wrong. */
  void check(CheckRun run, long firstIndex) {
    long bytes = (runs.recordCount() + 7) / 8;
    try {
      FileWindow opened = new FileWindow(files.open(name, false));
      window = opened;
      if (opened.lengthBytes() != bytes) {
        report(run, "it has " + opened.lengthBytes() + " bytes instead of " + bytes);
      }
      checkBlocks(run, firstIndex, bytes, opened.lengthBytes());
    } catch (ZRecordException e) {
      report(run, firstIndex, runs.recordCount(), FileProblem.of(e));
    }
  }

  private void checkBlocks(CheckRun run, long firstIndex, long bytes, long fileBytes) {
    long present = 0;
    boolean isSound = true;
    for (long number = 0; number < Run.blockCount(bytes); number++) {
      long first = number * BITS_PER_BLOCK;
      if (number * Run.BLOCK_BYTES >= fileBytes) {
        isSound = false;
        long left = runs.recordCount() - first;
        report(run, firstIndex + first, left, "block " + number + " and all behind it are missing");
        break;
      }
      int length = (int) Math.min(Run.BLOCK_BYTES, bytes - number * Run.BLOCK_BYTES);
      load(number);
      int found = binding.bind(Binding.Kind.VALIDITY, number, Crc32c.of(block, 0, length));
      if (bytesInMemory < length
          || (runs.hasChecksums() && found != runs.validityChecksums()[(int) number])) {
        isSound = false;
        report(
            run,
            firstIndex + first,
            Math.min(BITS_PER_BLOCK, runs.recordCount() - first),
            bytesInMemory < length
                ? "block " + number + " is not all in the file, or cannot be read"
                : "block " + number + " has checksum " + HexFormat.of().toHexDigits(found));
      }
      for (int i = 0; i < length; i++) {
        present += Integer.bitCount(block[i] & 0xff);
      }
    }
    if (isSound && present != runs.recordCount() - field.absentCount()) {
      report(
          run,
          "it has " + present + " bits, but " + (runs.recordCount() - field.absentCount()) + " of "
              + runs.recordCount() + " values are said to be present");
    }
  }

  private void report(CheckRun run, long index, long count, String problem) {
    run.found(
        new Finding(Kind.PRESENCE, files.pathOf(name), field.spec().name(), index, count, problem));
  }

  private void report(CheckRun run, String problem) {
    run.found(Kind.PRESENCE, files.pathOf(name), field.spec().name(), problem);
  }

  /**
   * Tells whether a value is present. A value whose bit is not in the file or cannot be read counts
   * as present.
   */
  boolean isPresent(long index) {
    if (window == null) {
      return true;
    }
    load(index / BITS_PER_BLOCK);
    int at = (int) (index % BITS_PER_BLOCK / 8);
    return at >= bytesInMemory || (block[at] >> (index & 7) & 1) != 0;
  }

  private void load(long number) {
    if (window != null && blockInMemory != number) {
      blockInMemory = number;
      try {
        bytesInMemory = window.read(number * Run.BLOCK_BYTES, block, 0, block.length);
      } catch (StorageException e) {
        FileProblem.requireOfContent(e);
        bytesInMemory = 0; // Perhaps a bad sector: other blocks can be read.
      }
    }
  }

  @Override
  public void close() {
    if (window != null) {
      window.close();
    }
  }
}
