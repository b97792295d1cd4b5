package io.zrecord.storage;

import java.nio.ByteBuffer;

/** A file open for reading. Thread-safe. */
public interface ReadableFile extends AutoCloseable {

  /** Full path, for messages. */
  String path();

  /** Length in bytes when it was opened. */
  long lengthBytes();

  /**
   * A read-only, little-endian view of a part of the file. Local storage maps it; the mapping is released by the garbage
   * collector, never explicitly, so that a view cannot outlive its memory. A mapped view MUST NOT be handed to intrinsics or
   * native code (checksums, codecs): a truncated file would kill the process.
   *
   * @param position first byte, ≥ 0
   * @param lengthBytes 0 to 2³⁰ bytes; {@code position + lengthBytes} at most {@link #lengthBytes()}
   * @throws io.zrecord.errors.TruncatedFileException if the file has become shorter
   */
  ByteBuffer region(long position, int lengthBytes);

  /**
   * How long the regions should be that a reader asks for and keeps, a power of two from 4 KiB to 1 GiB: as long as possible where
   * a region is a mapping, a few MiB where it is memory that is filled.
   */
  default int preferredRegionBytes() {
    return 1 << 30;
  }

  @Override
  void close();
}
