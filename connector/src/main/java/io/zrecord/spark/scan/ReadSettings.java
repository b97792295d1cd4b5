package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.read.Verification;
import java.io.Serializable;
import org.apache.spark.sql.types.StructType;
import org.jspecify.annotations.Nullable;

/**
 * What all tasks of a scan have in common. Immutable.
 *
 * @param columns to read, among them perhaps metadata columns
 * @param batchRows rows of a batch at most
 * @param batchBytes bytes of a column in a batch at most, stored and decompressed, unless a single
 *     value is larger
 * @param verification when checksums are compared
 * @param sample what is drawn of the places that the scan selects; null: all
 */
public record ReadSettings(
    StructType columns,
    int batchRows,
    long batchBytes,
    Verification verification,
    @Nullable TableSample sample)
    implements Serializable {

  /** The places of a set, less those that are not drawn. */
  PlaceCursor cursor(IndexSet places, long first) {
    return new PlaceCursor(places, first, sample == null ? null : sample.drawing());
  }
}
