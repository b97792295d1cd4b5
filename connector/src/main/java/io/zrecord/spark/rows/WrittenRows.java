package io.zrecord.spark.rows;

import io.zrecord.spark.job.ObjectBytes;
import io.zrecord.table.ShardChange;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.jspecify.annotations.Nullable;

/**
 * The report of a task to the driver: what the task changed in shards, and what it wrote of new
 * records. A plain class with bytes, see {@link ObjectBytes}.
 */
final class WrittenRows implements WriterCommitMessage {
  private static final long serialVersionUID = 1L;

  private final byte[] changes;
  private final @Nullable WriterCommitMessage inserted;

  /** @param inserted the report of the writer of new records; null if there were none */
  WrittenRows(List<ShardChange> changes, @Nullable WriterCommitMessage inserted) {
    this.changes = ObjectBytes.of(new ArrayList<>(changes));
    this.inserted = inserted;
  }

  List<ShardChange> changes() {
    List<?> read = ObjectBytes.read(changes, ArrayList.class);
    return read.stream().map(ShardChange.class::cast).toList();
  }

  @Nullable
  WriterCommitMessage inserted() {
    return inserted;
  }
}
