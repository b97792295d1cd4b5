package io.zrecord.spark.job;

import io.zrecord.rebalance.order.StoredOrder;
import io.zrecord.spark.path.TableLocation;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;

/**
 * Rows of the old and the new index of each record in a part of an order. Belongs to one thread.
 */
final class Places implements Iterator<Row> {
  private static final int BLOCK = 1 << 13;

  private final StoredOrder order;
  private final long to;
  private final long[] block = new long[BLOCK];
  private long next;
  private long blockFirst;
  private int blockCount;

  Places(TableLocation location, RangeOrder part) {
    order = new StoredOrder(location.storage(), part.sorted(), part.firstSorted());
    next = part.range().from();
    to = part.range().to();
  }

  @Override
  public boolean hasNext() {
    return next < to;
  }

  @Override
  public Row next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    if (blockCount == 0 || next == blockFirst + blockCount) {
      blockFirst = next;
      blockCount = (int) Math.min(BLOCK, to - next);
      order.oldIndices(next, block, blockCount);
    }
    long old = block[(int) (next - blockFirst)];
    return RowFactory.create(old, next++);
  }
}
