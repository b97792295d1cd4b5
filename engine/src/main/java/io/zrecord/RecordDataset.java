package io.zrecord;

import io.zrecord.scan.FieldReader;
import io.zrecord.scan.ReadMetrics;
import io.zrecord.scan.Verification;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.Storage;
import io.zrecord.table.ShardSummary;
import io.zrecord.table.TableSnapshot;
import java.nio.file.Path;
import java.util.OptionalLong;

/** SKELETON of a dataset open for reading. Thread-safe. */
public final class RecordDataset implements AutoCloseable {

  /** How to read. */
  public record ReadOptions(Verification verification, ReadMetrics metrics) {
    public static ReadOptions defaults() {
      return new ReadOptions(Verification.FIRST, new ReadMetrics());
    }
  }

  /** Opens the newest version of a table, or a shard standing alone. */
  public static RecordDataset open(Path path) {
    throw new UnsupportedOperationException();
  }

  public static RecordDataset open(TableSnapshot snapshot, ReadOptions options) {
    throw new UnsupportedOperationException();
  }

  /** One shard of a table, its indices starting at 0, its fields those of {@code schema} (by id; missing ones are absent). */
  public static RecordDataset openShard(
      Storage storage, RecordSchema schema, ShardSummary shard, ReadOptions options) {
    throw new UnsupportedOperationException();
  }

  public long length() {
    return 0;
  }

  public RecordSchema schema() {
    throw new UnsupportedOperationException();
  }

  /** Version of the table; empty for a shard standing alone. */
  public OptionalLong version() {
    return OptionalLong.empty();
  }

  /** A new reader of a field, for one thread. */
  public FieldReader reader(String field) {
    throw new UnsupportedOperationException();
  }

  /** The values of some fields at any indices, in this order. The caller closes it. No field named: all. */
  public Batch gather(long[] indices, String... fields) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}
