package io.zrecord.internal.verify;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/**
 * A tables file that is being checked (FORMAT.md section 3). Reads by position, so that a bad
 * sector costs what is in it. Belongs to one thread.
 */
final class ShardTables implements AutoCloseable {
  private final FileWindow window;
  private final TablesJson json;

  private ShardTables(FileWindow window, TablesJson json) {
    this.window = window;
    this.json = json;
  }

  /**
   * Opens a file of a shard and compares its JSON with the manifest.
   *
   * @throws ZRecordException if there is no such file, or its JSON cannot be used
   */
  static ShardTables open(MutableFiles files, ShardSummary shard, TablesRef ref) {
    FileWindow window = new FileWindow(files.open(shard.fileOf(ref), false));
    try {
      byte[] bytes = read(window, ref.jsonPosition(), ref.jsonBytes());
      return new ShardTables(window, TablesFile.readJson(window.path(), bytes, shard, ref));
    } catch (RuntimeException e) {
      window.close();
      throw e;
    }
  }

  /** Checks what is in the file beside sections and JSON, and reports what is wrong. */
  void checkFrame(CheckRun run, ShardSummary shard, TablesRef ref) {
    if (window.lengthBytes() != ref.bytes()) {
      run.found(
          Kind.META,
          path(),
          "it has " + window.lengthBytes() + " bytes, but the manifest says " + ref.bytes());
      return;
    }
    try {
      new FileHeader(FileHeader.Kind.TABLES, shard.id(), ref.id())
          .check(path(), read(window, 0, FileHeader.BYTES));
      byte[] trailer = read(window, ref.bytes() - TablesTrailer.BYTES, TablesTrailer.BYTES);
      TablesTrailer.read(path(), trailer, ref.bytes());
    } catch (ZRecordException e) {
      run.found(Kind.META, path(), FileProblem.of(e));
    }
  }

  /**
   * Checks that sections do not overlap and that the bytes between them are zero.
   *
   * @param fields all fields of the file
   * @param others sections of no field
   */
  void checkGaps(CheckRun run, List<FieldTables> fields, List<Section> others) {
    List<Section> sections = new ArrayList<>(others);
    for (FieldTables field : fields) {
      sections.addAll(List.of(
          field.runs(), field.units(), field.validity(), field.offsets(), field.statistics()));
    }
    sections.removeIf(section -> !section.isPresent());
    sections.sort(Comparator.comparingLong(Section::position));
    sections.add(new Section(json.position(), 0));
    long end = FileHeader.BYTES;
    for (Section section : sections) {
      if (section.position() < end) {
        run.found(Kind.META, path(), "two of its tables overlap at byte " + section.position());
        return;
      }
      checkZeros(run, end, section.position());
      end = section.end();
    }
  }

  private void checkZeros(CheckRun run, long from, long to) {
    for (long at = from; at < to; at += run.scratch.length) {
      int length = (int) Math.min(run.scratch.length, to - at);
      int read = tryRead(at, run.scratch, 0, length);
      for (int i = 0; i < read; i++) {
        if (run.scratch[i] != 0) {
          run.found(
              Kind.META, path(), "byte " + (at + i) + " is between two tables, but is not zero");
          return;
        }
      }
      if (read < length) {
        run.found(Kind.META, path(), "the bytes from " + at + " cannot all be read");
        return;
      }
    }
  }

  TablesJson json() {
    return json;
  }

  String path() {
    return window.path();
  }

  long lengthBytes() {
    return window.lengthBytes();
  }

  /**
   * Reads a section of at most 2 GiB.
   *
   * @throws ZRecordException if the section cannot be read
   */
  byte[] read(Section section) {
    return read(window, section.position(), Math.toIntExact(section.bytes()));
  }

  /** Reads bytes and returns how many of them could be read. */
  int tryRead(long position, byte[] target, int offset, int length) {
    try {
      return window.read(position, target, offset, length);
    } catch (StorageException e) {
      FileProblem.requireOfContent(e);
      return 0; // Perhaps a bad sector: other bytes can be read.
    }
  }

  /** Tells whether the checksum that follows a unit holds. */
  static boolean holds(byte[] unit, int bytes, Binding binding, Binding.Kind kind, long number) {
    int stored = ByteBuffer.wrap(unit).order(ByteOrder.LITTLE_ENDIAN).getInt(bytes);
    return stored == binding.bind(kind, number, Crc32c.of(unit, 0, bytes));
  }

  /** Tells whether the bytes of a unit after its checksum are zero. */
  static boolean isPadded(byte[] unit, int bytes, int paddedBytes) {
    for (int i = bytes + Integer.BYTES; i < paddedBytes; i++) {
      if (unit[i] != 0) {
        return false;
      }
    }
    return true;
  }

  /** Requires that the last bytes of a file tell where its JSON is. */
  static void requireTrailer(String path, byte[] file) {
    byte[] trailer = Arrays.copyOfRange(file, file.length - TablesTrailer.BYTES, file.length);
    TablesTrailer.read(path, trailer, file.length);
  }

  static byte[] read(FileWindow window, long position, int length) {
    byte[] bytes = new byte[(int) Math.max(0, Math.min(length, window.lengthBytes() - position))];
    if (bytes.length < length || window.read(position, bytes, 0, length) < length) {
      throw new CorruptDataException(
          window.path(),
          "Cannot read " + window.path() + ": it ends before byte " + (position + length));
    }
    return bytes;
  }

  @Override
  public void close() {
    window.close();
  }
}
