package io.zrecord.inspect;

import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.shard.ShardPlaces;
import io.zrecord.schema.FieldSpec;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;

/** Adds up a shard while its values are visited. Belongs to one thread. */
final class ShardTally implements ShardPlaces.Visitor {
  private final ShardMeta meta;
  private final List<FieldTally> fields = new ArrayList<>();
  private final List<ChunkTally> chunks = new ArrayList<>();

  /**
   * Starts the tally of a shard.
   *
   * @param pathOf maps the name of one of the shard's files to its full path, for messages
   */
  ShardTally(ShardMeta meta, List<FieldSpec> fields, UnaryOperator<String> pathOf) {
    this.meta = meta;
    fields.forEach(field -> this.fields.add(new FieldTally(field)));
    for (ChunkMeta chunk : meta.chunks()) {
      chunks.add(new ChunkTally(chunk, pathOf.apply(chunk.fileName())));
    }
  }

  @Override
  public void values(int field, int chunk, long offset, long valueCount, int lengthBytes) {
    fields.get(field).add(chunks.get(chunk), offset, valueCount, lengthBytes);
  }

  @Override
  public void records(int chunk, long count) {
    chunks.get(chunk).addRecords(count);
  }

  /**
   * Returns the usage of the shard. Call this after all values were visited.
   *
   * @param directory the shard's directory with a trailing slash, as results name it
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  ShardUsage usage(String directory, long firstIndex, List<FieldSpec> specs) {
    fields.forEach(FieldTally::flush);
    Map<Integer, FieldMeta> stored = new HashMap<>();
    meta.fields().forEach(field -> stored.put(field.spec().id(), field));
    List<FieldUsage> fieldUsages = new ArrayList<>();
    Fragmentation fragmentation = Fragmentation.NONE;
    for (int i = 0; i < specs.size(); i++) {
      FieldMeta field = stored.get(specs.get(i).id());
      // Slots of absent values among dense values were visited like the others.
      long absent = field != null && field.layout() == FieldMeta.Layout.RUNS
          ? field.absentCount()
          : meta.length() - fields.get(i).valueCount();
      fieldUsages.add(fields.get(i).usage(meta.length(), absent));
      fragmentation = fragmentation.plus(fieldUsages.get(i).fragmentation());
    }
    List<ChunkUsage> chunkUsages = new ArrayList<>();
    SpaceUsage space = SpaceUsage.NONE;
    for (ChunkTally chunk : chunks) {
      ChunkUsage usage = chunk.usage(meta.id(), directory);
      chunkUsages.add(usage);
      space = space.plus(usage.space());
    }
    SpaceUsage ofShard = new SpaceUsage(
        space.fileBytes(),
        space.liveBytes(),
        space.deadBytes(),
        space.paddingBytes(),
        meta.chunks().stream().anyMatch(ChunkMeta::isOfStore)
            ? space.writtenRecords()
            : meta.length(),
        meta.length());
    return new ShardUsage(
        meta.id(), firstIndex, meta.length(), ofShard, fragmentation, chunkUsages, fieldUsages);
  }
}
