package io.zrecord.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.lmdbjava.Dbi;
import org.lmdbjava.DbiFlags;
import org.lmdbjava.Env;
import org.lmdbjava.PutFlags;
import org.lmdbjava.Txn;

/**
 * LMDB at its best for this contest: integer keys, {@code MDB_APPEND}, which fills pages and looks
 * nothing up, one transaction for each group, values passed and copied out without arrays, and a
 * map larger than the data. Its defaults force a commit (no {@code MDB_NOSYNC}).
 * {@code MDB_WRITEMAP} is off, as LMDB advises, because it gives up the protection of the pages. A
 * gather is one read transaction, which each thread resets and renews. The checks that lmdbjava
 * calls optional are off. LMDB has no checksums.
 */
final class LmdbPeer implements PeerStore {
  static {
    System.setProperty("lmdbjava.disable.checks", "true");
  }

  private static final long MAP_BYTES = 64L << 30;

  private final Env<ByteBuffer> env;
  private final Dbi<ByteBuffer> dbi;
  private final ByteBuffer key = newKey();

  LmdbPeer(Path path) {
    try {
      Files.createDirectories(path);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    env = Env.create().setMapSize(MAP_BYTES).setMaxDbs(1).open(path.toFile());
    dbi = env.openDbi("values", DbiFlags.MDB_CREATE, DbiFlags.MDB_INTEGERKEY);
  }

  private static ByteBuffer newKey() {
    return ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());
  }

  @Override
  public void append(Values values, long first, int count) {
    try (Txn<ByteBuffer> txn = env.txnWrite()) {
      for (int i = 0; i < count; i++) {
        dbi.put(txn, key.putLong(0, first + i), values.buffer(first + i), PutFlags.MDB_APPEND);
      }
      txn.commit();
    }
  }

  @Override
  public void settle() {}

  @Override
  public Gatherer newGatherer() {
    ByteBuffer wanted = newKey();
    Txn<ByteBuffer> txn = env.txnRead();
    txn.reset();
    return new Gatherer() {
      @Override
      public void gather(long[] numbers, ByteBuffer target) {
        txn.renew();
        for (long number : numbers) {
          target.put(dbi.get(txn, wanted.putLong(0, number)));
        }
        txn.reset();
      }

      @Override
      public void close() {
        txn.close();
      }
    };
  }

  @Override
  public void close() {
    env.close();
  }
}
