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
 * in the order, from 0. The driver decides conditions on places, limit, offset and count. Orders
 * are equal if they give the same records the same places. Immutable.
 */
interface ScanOrder {
  /** Returns the number of places. */
  long length();

  /**
   * Returns the version of each dataset that is read. Versions with the same records, of which one
   * is a tag, are different.
   */
  List<Long> versions();

  /** Returns the names of the metadata columns that have a row's place. */
  Set<String> placeColumns();

  /** Returns what finds the records of a shard; empty if a place is no index. */
  default Optional<ShardStarts> shardStarts() {
    return Optional.empty();
  }

  /** Returns the stored bytes of the columns' values at some places, or an estimate. */
  long estimateBytes(StructType columns, IndexSet places);

  /**
   * Returns partitions in the order of their places. The partitions have exactly the given places.
   */
  Division divide(StructType columns, IndexSet places, SplitSizing sizing);

  /** Returns a factory of readers for these partitions. */
  PartitionReaderFactory readers(ReadSettings settings);

  /**
   * Returns the places of the units of storage that a sample draws. The sample draws all records of
   * a unit or none. Empty if places are not stored in units.
   */
  Optional<IndexSet> drawUnits(TableSample sample);

  /**
   * A scan in partitions.
   *
   * @param partitions partitions, none of them empty
   * @param shards number of shards that the partitions may touch
   * @param ranges number of ranges of places in the partitions
   */
  record Division(List<InputPartition> partitions, long shards, long ranges) {}
}
