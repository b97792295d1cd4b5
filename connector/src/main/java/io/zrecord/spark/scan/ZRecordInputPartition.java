package io.zrecord.spark.scan;

import io.zrecord.scan.ScanPlan;
import io.zrecord.spark.path.TableLocation;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * The part of a scan that one task reads. The readers have the fields to read, which travel once
 * for all tasks.
 *
 * @param location location of the dataset
 * @param dataset ordinal of the dataset, if several datasets are read
 * @param firstIndex index of the dataset's first record, if several datasets are read
 * @param slices parts of shards, in index order, without sizes
 */
public record ZRecordInputPartition(
    TableLocation location, int dataset, long firstIndex, List<ScanPlan.ShardSlice> slices)
    implements InputPartition {}
