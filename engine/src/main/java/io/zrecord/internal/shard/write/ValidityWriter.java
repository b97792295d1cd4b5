package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Run;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.Durability;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the bits that tell which values of a dense field are present. The file is created with the
 * first absent value. Belongs to one thread.
 */
final class ValidityWriter implements AutoCloseable {
  private final Storage storage;
  private final String name;
  private final Checksum checksum;
  private final IntList checksums = new IntList();
  private byte @Nullable [] block;
  private @Nullable WritableFile file;
  private int fill;
  private int bitsOfLast;
  private boolean isClosed;

  ValidityWriter(Storage storage, String name, Checksum checksum) {
    this.storage = storage;
    this.name = name;
    this.checksum = checksum;
  }

  boolean hasAbsent() {
    return file != null;
  }

  /** Adds the bit of the record after {@code before} other records. */
  void add(boolean isPresent, long before) {
    if (block == null) {
      if (isPresent) {
        return;
      }
      begin(before);
    }
    append(isPresent);
  }

  /** Finishes the file, if there is one. Returns the checksums of its blocks. */
  int[] finish(Durability durability) {
    if (file != null) {
      drain();
      if (durability == Durability.COMMIT) {
        file.force();
      }
      close();
    }
    return checksums.toArray();
  }

  @Override
  public void close() {
    if (file != null && !isClosed) {
      isClosed = true;
      file.close();
    }
  }

  private void begin(long before) {
    file = storage.create(name);
    block = new byte[Run.BLOCK_BYTES];
    for (long i = 0; i < before / 8; i++) {
      appendByte((byte) 0xff);
    }
    for (long i = 0; i < before % 8; i++) {
      append(true);
    }
  }

  private void append(boolean isPresent) {
    if (bitsOfLast == 0) {
      appendByte((byte) 0);
    }
    if (isPresent) {
      block()[fill - 1] |= (byte) (1 << bitsOfLast);
    }
    bitsOfLast = (bitsOfLast + 1) & 7;
  }

  private void appendByte(byte value) {
    if (fill == Run.BLOCK_BYTES) {
      drain();
    }
    block()[fill++] = value;
  }

  private void drain() {
    if (file != null && fill > 0) {
      if (checksum == Checksum.CRC32C) {
        checksums.add(Crc32c.of(block(), 0, fill));
      }
      file.write(ByteBuffer.wrap(block(), 0, fill));
      fill = 0;
    }
  }

  private byte[] block() {
    return java.util.Objects.requireNonNull(block);
  }
}
