package io.zrecord.storage.cache;

import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.io.CacheFiles;
import io.zrecord.internal.io.MutableFile;
import java.nio.ByteBuffer;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads and writes the files of blocks. A failure is counted and never thrown; the first one of
 * each kind is logged. Thread-safe.
 */
final class BlockFiles {
  private static final Logger LOG = LoggerFactory.getLogger(BlockCache.class);

  private final CacheFiles files;
  private final BlockFormat format;
  private final BlockIndex index;
  private final CacheCounters counters;
  private final AtomicBoolean isFailureLogged = new AtomicBoolean();
  private final AtomicBoolean isDamageLogged = new AtomicBoolean();
  private final AtomicBoolean isLackLogged = new AtomicBoolean();

  BlockFiles(
      CacheFiles files,
      long maxBytes,
      InstantSource clock,
      BlockFormat.Checksum checksum,
      CacheCounters counters) {
    this.files = files;
    this.format = new BlockFormat(checksum);
    this.index = new BlockIndex(files, maxBytes, clock, counters);
    this.counters = counters;
  }

  /**
   * Reads bytes of a block. Deletes a damaged block.
   *
   * @param from first byte in the block
   * @param target array-backed. Has any bytes if the result is {@code false}
   * @return whether the bytes are there
   */
  boolean read(BlockKey key, int from, ByteBuffer target) {
    byte[] prefix = key.prefix();
    String name = BlockKey.fileName(prefix);
    int bytes = target.remaining();
    try {
      if (!isRead(name, prefix, key.lengthBytes(), from, target)) {
        damaged(name);
        return false;
      }
    } catch (MissingFileException e) {
      return false;
    } catch (ZRecordException e) {
      failed(e);
      return false;
    }
    counters.addHit(bytes);
    try {
      index.used(name, BlockFormat.fileBytes(prefix, key.lengthBytes()));
    } catch (MissingFileException e) {
      // Another process deleted the block after this read.
      index.removed(name);
    } catch (ZRecordException e) {
      failed(e);
    }
    return true;
  }

  private boolean isRead(String name, byte[] prefix, int dataBytes, int from, ByteBuffer target) {
    try (MutableFile file = files.open(name)) {
      return format.read(file, prefix, dataBytes, from, target);
    }
  }

  private void damaged(String name) {
    counters.addFailure();
    if (isDamageLogged.compareAndSet(false, true)) {
      LOG.warn(
          "Block {} of the cache {} is damaged, and is fetched again. Check the disk if this happens"
              + " without a crash",
          name,
          files.location());
    }
    delete(name);
  }

  /** Deletes a block if it is there. */
  void delete(BlockKey key) {
    delete(BlockKey.fileName(key.prefix()));
  }

  private void delete(String name) {
    try {
      files.delete(name);
      index.removed(name);
    } catch (ZRecordException e) {
      failed(e);
    }
  }

  /**
   * Writes a block, if there is room.
   *
   * @param data of the whole block. Not changed
   */
  void write(BlockKey key, ByteBuffer data) {
    byte[] prefix = key.prefix();
    String name = BlockKey.fileName(prefix);
    try {
      if (index.reserve(name, BlockFormat.fileBytes(prefix, data.remaining()))) {
        writeReserved(name, format.encode(prefix, data));
      } else {
        lacksRoom();
      }
    } catch (ZRecordException e) {
      failed(e);
    }
  }

  private void writeReserved(String name, byte[] content) {
    boolean isWritten = false;
    try {
      files.write(name, content);
      isWritten = true;
    } finally {
      if (isWritten) {
        index.written(name);
      } else {
        index.removed(name);
      }
    }
  }

  private void lacksRoom() {
    counters.addFailure();
    if (isLackLogged.compareAndSet(false, true)) {
      LOG.warn(
          "The cache {} has no room for a block: blocks that are being written fill its bound, or"
              + " less than a tenth of the disk (at most 10 GiB) would be free. Raise the bound,"
              + " free space on the disk, or choose a directory on another disk",
          files.location());
    }
  }

  private void failed(ZRecordException e) {
    // An interrupt ends an operation of the disk, and says nothing about the disk.
    if (Thread.currentThread().isInterrupted()) {
      return;
    }
    counters.addFailure();
    if (isFailureLogged.compareAndSet(false, true)) {
      LOG.warn(
          "The cache {} failed, and the storage is read instead. Later failures are only counted",
          files.location(),
          e);
    }
  }

  /** Returns the bytes of all blocks that are known. */
  long heldBytes() {
    return index.heldBytes();
  }
}
