package io.zrecord.spark.scan;

import io.zrecord.read.IndexSet;
import io.zrecord.scan.SplitSizing;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/**
 * The order in which a scan reads: that of indices, or of a sampler. A <em>place</em> counts rows
 * along it, from 0; conditions on places, limit, offset and count are decided on the driver. Orders
 * are equal if they give the same records the same places. Immutable.
 */
interface ScanOrder {
  /** Number of places. */
  long length();

  /** Names of the metadata columns that have a row's place. */
  Set<String> placeColumns();

  /** Stored bytes of the columns' values at some places, or how many there will be about. */
  long estimateBytes(StructType columns, IndexSet places);

  /** Partitions in the order of their places, which are those given and no others. */
  Division divide(StructType columns, IndexSet places, SplitSizing sizing);

  /** Makes readers for these partitions. */
  PartitionReaderFactory readers(ReadSettings settings);

  /**
   * The places of the units of storage that a sample draws; all records of a unit or none. Empty if
   * places are not stored in units.
   */
  Optional<IndexSet> drawUnits(TableSample sample);

  /**
   * A scan in partitions.
   *
   * @param partitions none is empty
   * @param shards that they may touch
   * @param ranges of places in them
   */
  record Division(List<InputPartition> partitions, long shards, long ranges) {}
}
