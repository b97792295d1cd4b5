package io.zrecord.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;
import java.util.zip.CRC32C;

/** Computes bound checksums as docs/spec/FORMAT.md says, without the engine. */
public final class BindingProbe {
  private BindingProbe() {}

  /** Returns the CRC32C of the binding of a unit. */
  public static int crcOfBinding(UUID owner, int fieldId, int kind, long unit) {
    ByteBuffer binding = ByteBuffer.allocate(32);
    binding.putLong(owner.getMostSignificantBits()).putLong(owner.getLeastSignificantBits());
    binding.order(ByteOrder.LITTLE_ENDIAN).putInt(fieldId).putInt(kind).putLong(unit);
    return crc(binding.array());
  }

  /** Returns the CRC32C of some bytes. */
  public static int crc(byte[] bytes) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, 0, bytes.length);
    return (int) crc.getValue();
  }
}
