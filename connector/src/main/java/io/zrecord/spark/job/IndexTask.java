package io.zrecord.spark.job;

import io.zrecord.rebalance.order.IndexWriter;
import io.zrecord.shard.WriteOptions;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.storage.Storage;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Row;

/**
 * Writes the indices in the first column of a partition to a shard. Returns one
 * {@link AttemptResult}.
 */
public final class IndexTask implements FlatMapFunction<Iterator<Row>, byte[]> {
  private static final long serialVersionUID = 1L;
  private static final int CHECK_ROWS = 1 << 13;

  /** The meaning of the indices. */
  public enum Kind {
    /** Old indices, in the new order. */
    ORDER,
    /**
     * New indices, in the old order. The second column has the old indices, which must be 0, 1, 2
     * and so on.
     */
    MAP
  }

  private final TableLocation location;
  private final Kind kind;
  private final WriteOptions options;

  public IndexTask(TableLocation location, Kind kind, WriteOptions options) {
    this.location = location;
    this.kind = kind;
    this.options = options;
  }

  private IndexWriter writer(Storage storage) {
    return switch (kind) {
      case ORDER -> IndexWriter.ofOrder(storage, options);
      case MAP -> IndexWriter.ofMap(storage, options);
    };
  }

  @Override
  public Iterator<byte[]> call(Iterator<Row> rows) {
    byte[] result = ShardAttempt.run(location, storage -> {
      try (IndexWriter writer = writer(storage)) {
        for (long count = 0; rows.hasNext(); count++) {
          if (count % CHECK_ROWS == 0) {
            ShardAttempt.requireRunning();
          }
          Row row = rows.next();
          if (kind == Kind.MAP && row.getLong(1) != count) {
            throw new GroupFailedException(
                location.toString(),
                "The order that Spark found for " + location + " is none: record "
                    + Math.min(row.getLong(1), count) + " is in it "
                    + (row.getLong(1) < count ? "twice" : "not at all") + "; nothing changed",
                null);
          }
          writer.put(row.getLong(0));
        }
        return writer.finish().stream().toList();
      }
    });
    return List.of(result).iterator();
  }
}
