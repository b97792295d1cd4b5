package io.zrecord.verify;

import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.Run;
import io.zrecord.internal.format.RunsFile;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.verify.Finding.Kind;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Checks a field in the layout {@code runs} (FORMAT.md section 5), block by block. Belongs to one
 * thread.
 */
final class RunsCheck {
  private static final int MAX_FILE_BYTES = Integer.MAX_VALUE - 8;

  private final CheckRun run;
  private final MutableFiles files;
  private final String prefix;
  private final ShardMeta meta;
  private final FieldMeta field;
  private final long firstIndex;
  private final byte[] block;
  private final Binding binding;

  RunsCheck(
      CheckRun run,
      MutableFiles files,
      String prefix,
      ShardMeta meta,
      FieldMeta field,
      long firstIndex) {
    this.run = run;
    this.block = run.scratch;
    this.files = files;
    this.prefix = prefix;
    this.meta = meta;
    this.field = field;
    this.firstIndex = firstIndex;
    this.binding = new Binding(meta.id(), field.spec().id());
  }

  /** Checks the files of the field, and the field's values if chunks are given. */
  void check(@Nullable ChunkFiles chunks) {
    String name = prefix + field.stem() + ".runs";
    String path = files.pathOf(name);
    int width = field.spec().valueWidthBytes().orElseThrow();
    RunsFile runs;
    try {
      runs = RunsFile.read(
          path,
          files.read(name, MAX_FILE_BYTES),
          meta.length(),
          width,
          meta.hasChecksums(),
          binding);
    } catch (ZRecordException e) {
      found(Kind.RUNS, path, 0, meta.length(), FileProblem.of(e));
      return;
    }
    if (runs.hasValidity() != field.absentCount() > 0) {
      found(
          Kind.RUNS,
          path,
          0,
          meta.length(),
          "it says that " + (runs.hasValidity() ? "some values are" : "no value is")
              + " absent, but the meta file counts " + field.absentCount());
    }
    if (field.valueBytes() != meta.length() * width) {
      run.found(
          Kind.COUNT,
          path,
          field.spec().name(),
          "the meta file says " + field.valueBytes() + " bytes of values, but there are "
              + meta.length() * width);
    }
    try (PresenceBits presence = new PresenceBits(files, prefix, field, runs, binding)) {
      if (runs.hasValidity()) {
        presence.check(run, firstIndex);
      }
      if (chunks != null) {
        for (int i = 0; i < runs.runs().size(); i++) {
          checkRun(path, runs, i, chunks, runs.hasValidity() ? presence : null);
        }
      }
    }
  }

  private void checkRun(
      String path, RunsFile file, int ordinal, ChunkFiles chunks, @Nullable PresenceBits presence) {
    Run stretch = file.runs().get(ordinal);
    long bytes = stretch.count() * file.widthBytes();
    ChunkMeta chunk = chunks.find(stretch.chunkId());
    if (chunk == null || stretch.offset() > chunk.endBytes() - bytes) {
      found(
          Kind.RUNS,
          path,
          stretch.firstIndex(),
          stretch.count(),
          "run " + ordinal + " is not within a chunk of the shard: " + stretch);
      return;
    }
    long present = Math.min(bytes, Math.max(0, chunks.presentBytes(chunk.id()) - stretch.offset()));
    // A lost stretch is one finding, however long the meta file says it is.
    long whole = present == bytes ? bytes : present / Run.BLOCK_BYTES * Run.BLOCK_BYTES;
    for (long number = 0; number * Run.BLOCK_BYTES < whole; number++) {
      checkBlock(file, stretch, number, chunks, presence);
    }
    if (whole < bytes) {
      run.checked(0, bytes - whole);
      foundLost(chunks, stretch, file.widthBytes(), whole, bytes - whole);
    }
    run.checked(stretch.count(), 0);
  }

  private void checkBlock(
      RunsFile file, Run stretch, long number, ChunkFiles chunks, @Nullable PresenceBits presence) {
    long from = number * Run.BLOCK_BYTES;
    int length = (int) Math.min(Run.BLOCK_BYTES, stretch.count() * file.widthBytes() - from);
    long firstRecord = stretch.firstIndex() + from / file.widthBytes();
    long lastRecord = stretch.firstIndex() + (from + length - 1) / file.widthBytes();
    String path = chunks.path(stretch.chunkId());
    long position = stretch.offset() + from;
    run.checked(0, length);
    if (chunks.read(stretch.chunkId(), position, block, 0, length) < length) {
      foundLost(chunks, stretch, file.widthBytes(), from, length);
      return;
    }
    if (file.hasChecksums()) {
      long unit = stretch.firstBlock() + number;
      int expected = file.blockChecksums()[(int) unit];
      int crc = binding.bind(Binding.Kind.BLOCK, unit, Crc32c.of(block, 0, length));
      if (crc != expected) {
        found(
            new Finding.Stretch(path, position, length),
            firstRecord,
            lastRecord - firstRecord + 1,
            "the checksum of the " + length + " bytes at " + position + " is "
                + HexFormat.of().toHexDigits(crc) + ", but "
                + HexFormat.of().toHexDigits(expected)
                + " was stored; at least one of these values is damaged");
        return;
      }
    }
    if (presence != null) {
      checkSlots(path, file.widthBytes(), stretch, from, length, presence);
    }
  }

  /**
   * Reports lost bytes of a run.
   *
   * @param from offset of the first lost byte in the run
   */
  private void foundLost(ChunkFiles chunks, Run stretch, int width, long from, long lengthBytes) {
    long first = from / width;
    long position = stretch.offset() + from;
    found(
        new Finding.Stretch(chunks.path(stretch.chunkId()), position, lengthBytes),
        stretch.firstIndex() + first,
        (from + lengthBytes - 1) / width - first + 1,
        "the " + lengthBytes + " bytes at " + position + " cannot all be read");
  }

  /** Checks that the slots of absent values are zero. */
  private void checkSlots(
      String path, int width, Run stretch, long from, int length, PresenceBits presence) {
    for (int at = 0; at < length; ) {
      long ordinal = (from + at) / width;
      int end = (int) Math.min(length, (ordinal + 1) * width - from);
      if (!presence.isPresent(stretch.firstIndex() + ordinal)) {
        for (int i = at; i < end; i++) {
          if (block[i] != 0) {
            found(
                Kind.PRESENCE,
                path,
                stretch.firstIndex() + ordinal,
                1,
                "the value is absent, but its slot is not zero");
            break;
          }
        }
      }
      at = end;
    }
  }

  private void found(Kind kind, String path, long index, long count, String problem) {
    run.found(new Finding(kind, path, field.spec().name(), firstIndex + index, count, problem));
  }

  private void found(Finding.Stretch bytes, long index, long count, String problem) {
    run.found(new Finding(
        Kind.VALUE, bytes.file(), field.spec().name(), firstIndex + index, count, problem, bytes));
  }
}
