package io.zrecord.internal.records;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.StoreReader;
import io.zrecord.errors.StoreAbandonedException;
import io.zrecord.schema.RecordSchema;
import io.zrecord.storage.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.verify.DatasetKind;
import java.nio.file.Path;
import java.util.OptionalLong;

/** A dataset of any kind, open for reading: the one place that knows how each kind is opened. */
public interface Records extends AutoCloseable {

  RecordSchema schema();

  /** Number of records; of a store those that are committed now. */
  long length();

  /**
   * The values of some fields at any indices, in this order; the caller closes it. No field named: all.
   *
   * @throws IndexOutOfBoundsException if an index is not in {@code [0, length)}
   */
  Batch gather(long[] indices, String... fields);

  @Override
  void close();

  /**
   * Opens a dataset.
   *
   * @param version of a table; empty: the newest
   * @throws io.zrecord.errors.NotADatasetException if there is none
   * @throws IllegalArgumentException if a version is asked for of what is no table
   */
  static Records open(Path path, OptionalLong version) {
    DatasetKind kind = DatasetKind.of(path);
    if (version.isPresent() && kind != DatasetKind.TABLE) {
      throw new IllegalArgumentException("Cannot read version " + version.getAsLong() + " of "
          + path + ": it is no table, and only tables have versions; leave --version out");
    }
    if (kind == DatasetKind.STORE) {
      try {
        return of(StoreReader.open(path));
      } catch (StoreAbandonedException e) {
        // A snapshot replays the journal, which a reader leaves to the next writer.
        return of(RecordDataset.open(path));
      }
    }
    return of(
        version.isPresent()
            ? RecordDataset.open(
                RecordTable.at(LocalStorage.at(path)).version(version.getAsLong()),
                RecordDataset.ReadOptions.defaults())
            : RecordDataset.open(path));
  }

  private static Records of(StoreReader store) {
    return new Records() {
      @Override
      public RecordSchema schema() {
        return store.schema();
      }

      @Override
      public long length() {
        return store.length();
      }

      @Override
      public Batch gather(long[] indices, String... fields) {
        return store.gather(indices, fields);
      }

      @Override
      public void close() {
        store.close();
      }
    };
  }

  private static Records of(RecordDataset dataset) {
    return new Records() {
      @Override
      public RecordSchema schema() {
        return dataset.schema();
      }

      @Override
      public long length() {
        return dataset.length();
      }

      @Override
      public Batch gather(long[] indices, String... fields) {
        return dataset.gather(indices, fields);
      }

      @Override
      public void close() {
        dataset.close();
      }
    };
  }
}
