package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.read.Verification;
import io.zrecord.spark.column.ColumnMetadata;
import io.zrecord.spark.options.ReadConf;
import java.io.Serializable;
import java.util.List;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * The settings that all tasks of a scan share. Immutable.
 *
 * @param columns columns to read, which may include metadata columns
 * @param batchRows greatest number of rows of a batch
 * @param batchBytes greatest number of bytes of a column in a batch, both stored and decompressed;
 *     a single value may be larger
 * @param verification when checksums are compared
 * @param sample draws from the places that the scan selects; null: all places
 * @param conditions conditions that all rows have to meet. Records that cannot meet them, by the
 *     statistics of their shard, are passed over; others are rows
 * @param searched the fields by whose values tasks pass over single records
 * @param wider what to do where a field has a wider type than its column; null if none can have one
 */
public record ReadSettings(
    StructType columns,
    int batchRows,
    long batchBytes,
    Verification verification,
    @Nullable TableSample sample,
    List<ValueCondition> conditions,
    SearchedFields searched,
    @Nullable WiderTypes wider)
    implements Serializable {

  /** Returns settings to read all records. */
  public static ReadSettings ofAll(StructType columns, ReadConf conf) {
    return new ReadSettings(
        columns,
        conf.batchRows(),
        conf.batchBytes(),
        conf.verification(),
        null,
        List.of(),
        SearchedFields.NONE,
        null);
  }

  /** Returns the same settings for other columns. */
  public ReadSettings of(StructType others) {
    return new ReadSettings(
        others, batchRows, batchBytes, verification, sample, conditions, searched, wider);
  }

  /** Returns the same settings without the metadata of the columns, for tasks and comparisons. */
  public ReadSettings bare() {
    return new ReadSettings(
        ColumnMetadata.bare(columns),
        batchRows,
        batchBytes,
        verification,
        sample,
        conditions,
        searched,
        wider);
  }

  /** Returns the same settings with other conditions, and the fields of those to look at. */
  ReadSettings of(List<ValueCondition> others, SearchedFields ofOthers) {
    return new ReadSettings(
        columns, batchRows, batchBytes, verification, sample, others, ofOthers, wider);
  }

  /** Returns the same settings for shards of other versions. */
  public ReadSettings of(WiderTypes ofVersions) {
    return new ReadSettings(
        columns, batchRows, batchBytes, verification, sample, conditions, searched, ofVersions);
  }

  /** Returns a cursor over the places of a set that the sample draws. */
  PlaceCursor cursor(IndexSet places, long first) {
    return new PlaceCursor(places, first, sample == null ? null : sample.drawing());
  }
}
