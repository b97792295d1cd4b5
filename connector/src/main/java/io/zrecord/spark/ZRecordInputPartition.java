package io.zrecord.spark;

import io.zrecord.schema.RecordSchema;
import io.zrecord.table.ScanPlan;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;

/**
 * What one task reads.
 *
 * @param location of the dataset
 * @param fields the fields to read
 * @param firstIndex index of the dataset's first record, where several datasets are read
 * @param slices parts of shards, in index order
 */
record ZRecordInputPartition(
    String location, RecordSchema fields, long firstIndex, List<ScanPlan.ShardSlice> slices)
    implements InputPartition {}
