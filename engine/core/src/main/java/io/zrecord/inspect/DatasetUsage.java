package io.zrecord.inspect;

import io.zrecord.schema.FieldSpec;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * How well a dataset is used.
 *
 * @param recordCount number of records
 * @param shardCount number of shards
 * @param chunkCount number of chunk files
 * @param space of all chunks together
 * @param fragmentation of all fields together
 * @param shardSizes bytes of the chunks of each shard
 * @param chunkSizes bytes of each chunk
 * @param fields usage of each field, in the order of the fields
 */
public record DatasetUsage(
    long recordCount,
    long shardCount,
    long chunkCount,
    SpaceUsage space,
    Fragmentation fragmentation,
    SizeHistogram shardSizes,
    SizeHistogram chunkSizes,
    List<FieldUsage> fields)
    implements Serializable {
  public DatasetUsage {
    fields = List.copyOf(fields);
  }

  /** Adds up shards. Belongs to one thread. */
  static final class Sum {
    private final SizeHistogram.Builder shardSizes = new SizeHistogram.Builder();
    private final SizeHistogram.Builder chunkSizes = new SizeHistogram.Builder();
    private final List<FieldUsage> fields = new ArrayList<>();
    private long recordCount;
    private long shardCount;
    private long chunkCount;
    private SpaceUsage space = SpaceUsage.NONE;
    private Fragmentation fragmentation = Fragmentation.NONE;

    Sum(List<FieldSpec> fields) {
      for (FieldSpec field : fields) {
        this.fields.add(new FieldUsage(field, 0, 0, 0, 0, SizeHistogram.EMPTY, Fragmentation.NONE));
      }
    }

    /** Adds a shard with the same fields. */
    void add(ShardUsage shard) {
      recordCount = Math.addExact(recordCount, shard.recordCount());
      shardCount++;
      chunkCount += shard.chunks().size();
      space = space.plus(shard.space());
      fragmentation = fragmentation.plus(shard.fragmentation());
      shardSizes.add(shard.space().fileBytes(), 1);
      shard.chunks().forEach(chunk -> chunkSizes.add(chunk.space().fileBytes(), 1));
      for (int i = 0; i < fields.size(); i++) {
        fields.set(i, fields.get(i).plus(shard.fields().get(i)));
      }
    }

    DatasetUsage build() {
      return new DatasetUsage(
          recordCount,
          shardCount,
          chunkCount,
          space,
          fragmentation,
          shardSizes.build(),
          chunkSizes.build(),
          fields);
    }
  }
}
