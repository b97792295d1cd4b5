package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Run;
import io.zrecord.shard.Durability;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Writes the bits that tell which values of a dense field are present. The file is created with the
 * first absent value. Belongs to one thread.
 */
final class ValidityWriter implements AutoCloseable {
  private final ColumnFiles files;
  private final IntList checksums = new IntList();
  private byte @Nullable [] block;
  private @Nullable WritableFile file;
  private int fill;
  private int bitsOfLast;
  private boolean isClosed;

  ValidityWriter(ColumnFiles files) {
    this.files = files;
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
    file = files.storage().create(files.name(".valid"));
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
      if (files.hasChecksums()) {
        int crc = Crc32c.of(block(), 0, fill);
        checksums.add(files.binding().bind(Binding.Kind.VALIDITY, checksums.count(), crc));
      }
      file.write(ByteBuffer.wrap(block(), 0, fill));
      fill = 0;
    }
  }

  private byte[] block() {
    return java.util.Objects.requireNonNull(block);
  }
}
