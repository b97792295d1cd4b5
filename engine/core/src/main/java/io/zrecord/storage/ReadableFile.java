package io.zrecord.storage;

import java.nio.ByteBuffer;

/** A file open for reading. Thread-safe. */
public interface ReadableFile extends AutoCloseable {

  /** Returns the full path, for messages. */
  String path();

  /** Returns the file's length in bytes at the time of opening. */
  long lengthBytes();

  /**
   * Returns a read-only, little-endian view of a part of the file. Local storage maps the part. The
   * garbage collector releases the mapping, never an explicit call, so a view cannot outlive its
   * memory. A mapped view MUST NOT be handed to intrinsics or native code (checksums, codecs): a
   * truncated file would kill the process.
   *
   * @param position first byte, ≥ 0
   * @param lengthBytes 0 to 2³⁰ bytes; {@code position + lengthBytes} at most
   *     {@link #lengthBytes()}
   * @throws io.zrecord.errors.TruncatedFileException if the file has become shorter
   */
  ByteBuffer region(long position, int lengthBytes);

  /**
   * Returns the preferred length of the regions that a reader asks for and keeps: a power of two
   * from 4 KiB to 1 GiB. As long as possible where a region is a mapping; a few MiB where a region
   * is memory to fill.
   */
  default int preferredRegionBytes() {
    return 1 << 30;
  }

  /**
   * Tells whether a region is a mapping, which takes no memory. Readers keep all regions of a file
   * that is mapped, and a bounded number of regions of another file.
   */
  default boolean isMapped() {
    return true;
  }

  @Override
  void close();
}
