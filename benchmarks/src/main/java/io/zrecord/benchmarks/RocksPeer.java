package io.zrecord.benchmarks;

import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.CompressionType;
import org.rocksdb.DataBlockIndexType;
import org.rocksdb.HyperClockCache;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.WriteBatch;
import org.rocksdb.WriteOptions;

/**
 * RocksDB at its best for this contest. No compression, memtables of 256 MiB, and a write-ahead log
 * that is forced with every batch. A block cache of the newer kind that is larger than the data, so
 * that a block's checksum is computed once and a read is a copy from memory. Reads through a map
 * ({@code allow_mmap_reads}) compute the checksum at every read, and were slower. No bloom filters,
 * which only help for keys that do not exist; hash indices in the blocks. No blob files: keys rise,
 * so compactions move files and rewrite no values. Before reading, everything is flushed and
 * compacted to one level. Keys are big-endian, which is their order. Values go in and out without
 * arrays, one by one, which was faster for cached blocks than {@code multiGetByteBuffers}.
 */
final class RocksPeer implements PeerStore {
  static {
    RocksDB.loadLibrary();
  }

  private static final long MEMTABLE_BYTES = 256L << 20;

  private final HyperClockCache cache;
  private final Options options;
  private final WriteOptions durably = new WriteOptions().setSync(true);
  private final ReadOptions reading = new ReadOptions();
  private final RocksDB database;
  private final ByteBuffer key = ByteBuffer.allocateDirect(Long.BYTES);

  /** @param cacheBytes size of the block cache */
  RocksPeer(Path path, long cacheBytes) {
    cache = new HyperClockCache(cacheBytes, 0, -1, false);
    options = new Options()
        .setCreateIfMissing(true)
        .setCompressionType(CompressionType.NO_COMPRESSION)
        .setWriteBufferSize(MEMTABLE_BYTES)
        .setMaxWriteBufferNumber(4)
        .setMaxBackgroundJobs(4)
        .setBytesPerSync(1 << 20)
        .setTableFormatConfig(new BlockBasedTableConfig()
            .setBlockCache(cache)
            .setDataBlockIndexType(DataBlockIndexType.kDataBlockBinaryAndHash));
    try {
      database = RocksDB.open(options, path.toString());
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void append(Values values, long first, int count) {
    try (WriteBatch batch = new WriteBatch()) {
      for (int i = 0; i < count; i++) {
        batch.put(key.clear().putLong(0, first + i), values.buffer(first + i));
      }
      database.write(durably, batch);
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void settle() {
    try {
      database.compactRange();
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public Gatherer newGatherer() {
    ByteBuffer wanted = ByteBuffer.allocateDirect(Long.BYTES);
    return new Gatherer() {
      @Override
      public void gather(long[] numbers, ByteBuffer target) {
        int bytes = target.remaining() / numbers.length;
        try {
          for (int i = 0; i < numbers.length; i++) {
            target.limit((i + 1) * bytes).position(i * bytes);
            if (database.get(reading, wanted.clear().putLong(0, numbers[i]), target) != bytes) {
              throw new IllegalStateException("there is no value " + numbers[i]);
            }
          }
        } catch (RocksDBException e) {
          throw new IllegalStateException(e);
        }
        target.position(target.limit());
      }

      @Override
      public void close() {}
    };
  }

  @Override
  public void close() {
    database.close();
    reading.close();
    durably.close();
    options.close();
    cache.close();
  }
}
