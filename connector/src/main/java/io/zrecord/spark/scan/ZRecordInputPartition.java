package io.zrecord.spark.scan;

import io.zrecord.scan.ScanPlan;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * What one task reads. The fields to read are those of the readers, which travel once for all
 * tasks.
 *
 * @param location of the dataset
 * @param dataset ordinal of the dataset, where several datasets are read
 * @param firstIndex index of the dataset's first record, where several datasets are read
 * @param slices parts of shards, in index order; sizes are left out
 */
public record ZRecordInputPartition(
    String location, int dataset, long firstIndex, List<ScanPlan.ShardSlice> slices)
    implements InputPartition {}
