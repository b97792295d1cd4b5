package io.zrecord.npy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** Reads the header of a {@code .npy} file; {@link NpyHeader} has the layout. Stateless. */
final class NpyHeaderReader {
  /** Limit of the header's length in bytes; NumPy itself accepts 10,000 by default. */
  private static final int MAX_BYTES = 1 << 16;

  private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

  private NpyHeaderReader() {}

  /** Reads the header from the start of a file. */
  static NpyHeader read(ReadableFile file) {
    String path = file.path();
    byte[] start = bytes(file, 0, 12);
    if (!java.util.Arrays.equals(start, 0, MAGIC.length, MAGIC, 0, MAGIC.length)) {
      throw new CorruptDataException(
          path,
          "Cannot import " + path
              + ": it does not begin as an .npy file; write it with numpy.save");
    }
    int major = start[6] & 0xff;
    if (major < 1 || major > 3 || start[7] != 0) {
      throw new UnsupportedFormatException(
          path,
          "Cannot import " + path + ": version " + major + "." + (start[7] & 0xff)
              + " of the .npy format is none of 1.0, 2.0 and 3.0; write it again with numpy.save");
    }
    int lengthBytes = major == 1 ? 2 : 4;
    long length = 0;
    for (int i = lengthBytes - 1; i >= 0; i--) {
      length = (length << 8) | (start[8 + i] & 0xff);
    }
    int from = 8 + lengthBytes;
    if (length > MAX_BYTES || from + length > file.lengthBytes()) {
      throw new CorruptDataException(
          path,
          "Cannot import " + path + ": its header of " + length + " bytes is beyond the file of "
              + file.lengthBytes() + " bytes or the limit of " + MAX_BYTES);
    }
    String text = new String(
        bytes(file, from, (int) length),
        major == 3 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
    return new NpyHeaderParser(path, text).parse(from + length);
  }

  private static byte[] bytes(ReadableFile file, long from, int length) {
    if (from + length > file.lengthBytes()) {
      throw new CorruptDataException(
          file.path(),
          "Cannot import " + file.path() + ": it has " + file.lengthBytes()
              + " bytes, too few for the header of an .npy file");
    }
    byte[] bytes = new byte[length];
    ByteBuffer region = file.region(from, length);
    region.get(bytes);
    return bytes;
  }
}
