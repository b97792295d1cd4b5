package io.zrecord.spark;

import io.zrecord.scan.IndexSet;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkSummary;
import io.zrecord.shard.ShardSummary;
import io.zrecord.table.ScanPlan;
import io.zrecord.table.TableSnapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.types.StructType;

/** Records by their index, of several datasets one after the other. A place is an index. */
final class IndexOrder implements ScanOrder {
  private final List<TableSnapshot> snapshots;

  IndexOrder(List<TableSnapshot> snapshots) {
    this.snapshots = List.copyOf(snapshots);
  }

  @Override
  public long length() {
    return snapshots.stream().mapToLong(TableSnapshot::length).sum();
  }

  @Override
  public Set<String> placeColumns() {
    return MetadataColumns.NAMES;
  }

  @Override
  public long estimateBytes(StructType columns, IndexSet places) {
    long bytes = 0;
    long first = 0;
    for (TableSnapshot snapshot : snapshots) {
      bytes += ScanPlan.estimateBytes(
          snapshot, fields(snapshot, columns).fields(), within(places, first, snapshot));
      first += snapshot.length();
    }
    return bytes;
  }

  @Override
  public Division divide(StructType columns, IndexSet places, ScanPlan.Sizing sizing) {
    List<InputPartition> partitions = new ArrayList<>();
    long first = 0;
    long shards = 0;
    long ranges = 0;
    for (TableSnapshot snapshot : snapshots) {
      RecordSchema fields = fields(snapshot, columns);
      String storage = snapshot.storage().location();
      for (ScanPlan.Split split :
          ScanPlan.divide(snapshot, fields.fields(), within(places, first, snapshot), sizing)) {
        partitions.add(new ZRecordInputPartition(storage, fields, first, split.slices()));
        shards += split.slices().size();
        for (ScanPlan.ShardSlice slice : split.slices()) {
          ranges += slice.indices().rangeCount();
        }
      }
      first += snapshot.length();
    }
    return new Division(partitions, shards, ranges);
  }

  @Override
  public PartitionReaderFactory readers(ReadSettings settings) {
    return new ZRecordReaderFactory(settings, snapshots);
  }

  /** Units are chunks. */
  @Override
  public Optional<IndexSet> drawUnits(TableSample sample) {
    TableSample.Drawing drawing = sample.drawing();
    IndexSet.Builder drawn = new IndexSet.Builder();
    long[] none = new long[1];
    long ordinal = 0;
    long first = 0;
    for (TableSnapshot snapshot : snapshots) {
      for (ShardSummary shard : snapshot.shards()) {
        for (long count : recordsOfChunks(shard)) {
          if (drawing.draw(ordinal++, 1, 0, none, 0) > 0) {
            drawn.add(first, first + count);
          }
          first += count;
        }
      }
    }
    return Optional.of(drawn.build());
  }

  /** Where the chunks of a shard are no ranges of indices it is a unit itself. */
  private static long[] recordsOfChunks(ShardSummary shard) {
    long[] counts = shard.chunks().stream().mapToLong(ChunkSummary::recordCount).toArray();
    return Arrays.stream(counts).sum() == shard.length() ? counts : new long[] {shard.length()};
  }

  /** The part of the indices that is in a snapshot, counted from its start. */
  private static IndexSet within(IndexSet indices, long first, TableSnapshot snapshot) {
    return indices.intersect(IndexSet.range(first, first + snapshot.length())).shift(-first);
  }

  /** The fields read, in the order of the columns. */
  static RecordSchema fields(TableSnapshot snapshot, StructType columns) {
    List<FieldSpec> fields = new ArrayList<>();
    for (String name : columns.fieldNames()) {
      if (!MetadataColumns.NAMES.contains(name)) {
        fields.add(snapshot.schema().fields().get(snapshot.schema().ordinal(name)));
      }
    }
    return new RecordSchema(fields);
  }

  @Override
  public String toString() {
    return "the index";
  }
}
