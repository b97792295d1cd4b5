package io.zrecord.internal.format;

import io.zrecord.errors.CorruptDataException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Reads and writes the {@code .runs} file of a field (FORMAT.md section 5). Integers are
 * little-endian.
 *
 * <pre>
 *   0                               8               12              16
 *  +-------------------------------+---------------+---------------+
 *  | "ZRECRUNS"                    | version u32   | 64 u32        |
 *  +-------------------------------+---------------+---------------+
 *  | records N u64                 | width u32     | runs R u32    |
 *  +---------------+---------------+---------------+---------------+
 *  | block 65536   | flags u32     | checksums of run blocks B u64 |
 *  +---------------+---------------+-------------------------------+
 *  | checksums of validity V u64   | zero                          |
 *  +-------------------------------+-------------------------------+ 64
 *  | first index u64               | count u64                     |  R times
 *  | offset u64                    | chunk id u32  | width u32     |
 *  | first block u64               |                                  40 bytes
 *  +-------------------------------+
 *  | B times CRC32C of a block of the runs
 *  | V times CRC32C of a block of the validity file
 *  | CRC32C of all bytes before, bound as the others
 *
 *  flags, bit 0: block checksums are present; bit 1: a validity file exists
 * </pre>
 *
 * @param recordCount number of records of the shard
 * @param widthBytes bytes of a value, > 0
 * @param hasChecksums whether blocks have checksums
 * @param hasValidity whether a {@code .valid} file exists
 * @param runs the runs in order, which cover all records
 * @param blockChecksums checksums of the blocks of the runs, bound to the field
 * @param validityChecksums checksums of the blocks of the validity file, bound to the field
 */
@SuppressWarnings(
    "ArrayRecordComponent") // Never compared; boxes would cost as much as what is checked.
public record RunsFile(
    long recordCount,
    int widthBytes,
    boolean hasChecksums,
    boolean hasValidity,
    List<Run> runs,
    int[] blockChecksums,
    int[] validityChecksums) {
  private static final byte[] MAGIC = "ZRECRUNS".getBytes(StandardCharsets.US_ASCII);
  private static final int HEADER_BYTES = 64;
  private static final int RUN_BYTES = 40;
  private static final int FLAG_CHECKSUMS = 1;
  private static final int FLAG_VALIDITY = 2;

  /** Returns the content of the file of the field that a binding is for. */
  public byte[] write(Binding binding) {
    long bytes = HEADER_BYTES
        + (long) RUN_BYTES * runs.size()
        + 4L * blockChecksums.length
        + 4L * validityChecksums.length
        + 4;
    byte[] file = new byte[Math.toIntExact(bytes)];
    ByteBuffer out = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    out.put(MAGIC).putInt(JsonObject.FORMAT_VERSION).putInt(HEADER_BYTES).putLong(recordCount);
    out.putInt(widthBytes).putInt(runs.size()).putInt(Run.BLOCK_BYTES);
    out.putInt((hasChecksums ? FLAG_CHECKSUMS : 0) | (hasValidity ? FLAG_VALIDITY : 0));
    out.putLong(blockChecksums.length).putLong(validityChecksums.length).putLong(0);
    for (Run run : runs) {
      out.putLong(run.firstIndex()).putLong(run.count()).putLong(run.offset());
      out.putInt(run.chunkId()).putInt(widthBytes).putLong(run.firstBlock());
    }
    out.asIntBuffer().put(blockChecksums).put(validityChecksums);
    out.putInt(file.length - 4, checksum(file, binding));
    return file;
  }

  private static int checksum(byte[] file, Binding binding) {
    return binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(file, 0, file.length - 4));
  }

  /**
   * Reads a file and checks everything that can be checked without the chunks.
   *
   * @param expectedRecords length of the shard
   * @param expectedWidth width by dtype and shape
   * @param binding of the field
   * @throws CorruptDataException if the file is damaged, cut, or contradicts the shard
   */
  public static RunsFile read(
      String resource,
      byte[] file,
      long expectedRecords,
      int expectedWidth,
      boolean expectChecksums,
      Binding binding) {
    ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    if (file.length < HEADER_BYTES + 4
        || !Arrays.equals(file, 0, MAGIC.length, MAGIC, 0, MAGIC.length)
        || in.getInt(file.length - 4) != checksum(file, binding)) {
      throw corrupt(
          resource,
          "it is damaged or cut, or of another field or shard (its checksum does not hold); restore it from"
              + " a copy");
    }
    HeaderVersion.requireKnown(resource, file);
    long records = in.getLong(16);
    int width = in.getInt(24);
    long runCount = Integer.toUnsignedLong(in.getInt(28));
    int flags = in.getInt(36);
    boolean checksums = (flags & FLAG_CHECKSUMS) != 0;
    boolean validity = (flags & FLAG_VALIDITY) != 0;
    long blocks = in.getLong(40);
    long validityBlocks = in.getLong(48);
    long words = (file.length - HEADER_BYTES - 4 - RUN_BYTES * runCount) / 4;
    if (in.getInt(8) != JsonObject.FORMAT_VERSION
        || in.getInt(12) != HEADER_BYTES
        || in.getInt(32) != Run.BLOCK_BYTES
        || blocks < 0
        || validityBlocks < 0
        || blocks > words
        || validityBlocks > words
        || HEADER_BYTES + RUN_BYTES * runCount + 4 * (blocks + validityBlocks) + 4 != file.length) {
      throw corrupt(resource, "its header contradicts its length of " + file.length + " bytes");
    }
    if (records != expectedRecords || width != expectedWidth || checksums != expectChecksums) {
      throw corrupt(
          resource,
          "it is for " + records + " records of " + width + " bytes, but the shard has "
              + expectedRecords + " of " + expectedWidth);
    }
    if (validityBlocks != (checksums && validity ? Run.blockCount((records + 7) / 8) : 0)) {
      throw corrupt(
          resource,
          "it has " + validityBlocks
              + " checksums of absent values, which is not one for each block");
    }
    List<Run> runs = runs(resource, in, (int) runCount, records, width, checksums, blocks);
    int[] blockChecksums = new int[(int) blocks];
    int[] validityChecksums = new int[(int) validityBlocks];
    in.position((int) (HEADER_BYTES + RUN_BYTES * runCount));
    in.asIntBuffer().get(blockChecksums).get(validityChecksums);
    return new RunsFile(
        records, width, checksums, validity, runs, blockChecksums, validityChecksums);
  }

  private static List<Run> runs(
      String resource,
      ByteBuffer in,
      int runCount,
      long records,
      int width,
      boolean checksums,
      long blocks) {
    List<Run> runs = new ArrayList<>(runCount);
    long nextIndex = 0;
    long nextBlock = 0;
    for (int i = 0; i < runCount; i++) {
      int at = HEADER_BYTES + RUN_BYTES * i;
      Run run = new Run(
          in.getLong(at),
          in.getLong(at + 8),
          in.getLong(at + 16),
          in.getInt(at + 24),
          in.getLong(at + 32));
      boolean fits = run.firstIndex() == nextIndex
          && run.count() > 0
          && run.count() <= records - nextIndex
          && run.count() <= Long.MAX_VALUE / 4 / width
          && run.offset() >= ChunkHeader.BYTES
          && run.offset() % 8 == 0
          && in.getInt(at + 28) == width
          && run.firstBlock() == nextBlock
          && nextBlock <= blocks;
      if (!fits) {
        throw corrupt(
            resource, "run " + i + " does not follow the one before or is out of range: " + run);
      }
      runs.add(run);
      nextIndex += run.count();
      nextBlock += checksums ? Run.blockCount(run.count() * width) : 0;
    }
    if (nextIndex != records || nextBlock != blocks) {
      throw corrupt(
          resource,
          "its runs cover " + nextIndex + " of " + records + " records and " + nextBlock + " of "
              + blocks + " checksums");
    }
    return runs;
  }

  private static CorruptDataException corrupt(String resource, String reason) {
    return new CorruptDataException(resource, "Cannot read " + resource + ": " + reason);
  }
}
