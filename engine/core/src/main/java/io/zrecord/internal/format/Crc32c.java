package io.zrecord.internal.format;

import java.util.zip.CRC32C;

/**
 * CRC32C over heap arrays. Mapped memory never comes here: the intrinsic would kill the process if
 * the file were truncated.
 */
public final class Crc32c {
  private Crc32c() {}

  public static int of(byte[] bytes) {
    return of(bytes, 0, bytes.length);
  }

  public static int of(byte[] bytes, int offset, int length) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, offset, length);
    return (int) crc.getValue();
  }
}
