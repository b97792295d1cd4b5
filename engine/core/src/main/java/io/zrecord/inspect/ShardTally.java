package io.zrecord.inspect;

import io.zrecord.internal.shard.OpenShard;
import io.zrecord.internal.shard.ShardPlaces;
import io.zrecord.internal.shard.Superseded;
import io.zrecord.internal.shard.layout.AbsentField;
import io.zrecord.internal.shard.layout.BlockField;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.FixedRuns;
import io.zrecord.internal.shard.layout.OpenField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.PresenceBits;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Adds up a shard while its values are visited. Belongs to one thread. */
final class ShardTally implements ShardPlaces.Visitor {
  private final OpenShard shard;
  private final List<FieldTally> fields = new ArrayList<>();
  private final List<ChunkTally> chunks = new ArrayList<>();

  /**
   * Starts the tally of a shard.
   *
   * @param nameOf returns the name of a chunk's file, relative to the dataset
   */
  ShardTally(OpenShard shard, List<FieldSpec> fields, Function<ChunkFile, String> nameOf) {
    this.shard = shard;
    fields.forEach(field -> this.fields.add(new FieldTally(field)));
    Set<UUID> ofPatch = ofPatch(shard.patch());
    for (int i = 0; i < shard.chunks().size(); i++) {
      ChunkFile chunk = shard.chunks().get(i);
      chunks.add(new ChunkTally(
          i, chunk, nameOf.apply(chunk), shard.pathOf(chunk), ofPatch.contains(chunk.id())));
    }
  }

  private static Set<UUID> ofPatch(@Nullable PatchFile patch) {
    return patch == null
        ? Set.of()
        : patch.json().chunks().stream().map(ChunkFile::id).collect(Collectors.toSet());
  }

  @Override
  public void values(
      int field, int chunk, long offset, long valueCount, int lengthBytes, int paddingBytes) {
    fields.get(field).add(chunks.get(chunk), offset, valueCount, lengthBytes, paddingBytes);
  }

  @Override
  public void block(
      int field, int chunk, long offset, int valueCount, int storedBytes, int padding) {
    fields.get(field).addBlock(chunks.get(chunk), offset, valueCount, storedBytes, padding);
  }

  @Override
  public void changed(int field, int chunk, int lengthBytes, int paddingBytes) {
    fields.get(field).addChanged(chunks.get(chunk), lengthBytes, paddingBytes);
  }

  @Override
  public void records(int chunk, long count) {
    chunks.get(chunk).addRecords(count);
  }

  @Override
  public void superseded(int chunk, long bytes) {
    chunks.get(chunk).addDead(bytes);
  }

  private long absentCount(FieldSpec spec, FieldTally tally) {
    OpenField field = shard.field(ShardPlaces.stored(shard, spec));
    Optional<PresenceBits> presence = presence(field);
    if (presence.isEmpty()
        && !(field instanceof AbsentField && spec.rules().initialHex() != null)) {
      return shard.length() - tally.valueCount() - tally.changedCount();
    }
    PatchFile patch = shard.patch();
    ChangedField changed = patch == null ? null : patch.changed(spec);
    long absent = changed == null ? 0 : changed.slots().count() - tally.changedCount();
    if (presence.isPresent()) {
      // Slots of absent values in runs were visited like the others.
      absent += shard.tablesOf(spec.id()).orElseThrow().absentCount();
      absent -= absentCount(presence.get(), Superseded.of(shard, spec));
    }
    return absent;
  }

  private static Optional<PresenceBits> presence(OpenField field) {
    if (field instanceof FixedRuns runs) {
      return Optional.of(runs.presence());
    }
    return field instanceof BlockField blocks ? Optional.of(blocks.presence()) : Optional.empty();
  }

  /** Returns how many of the superseded values are absent. */
  private long absentCount(PresenceBits presence, Superseded superseded) {
    long absent = 0;
    long slots = presence.exist() ? shard.slots() : 0;
    for (long slot = superseded.next(0, slots);
        slot < slots;
        slot = superseded.next(slot + 1, slots)) {
      absent += presence.isPresent(slot) ? 0 : 1;
    }
    return absent;
  }

  /**
   * Returns the usage of the shard. Call this after all values were visited.
   *
   * @param unreadableBytes bytes of the values of fields that cannot be read, which were not
   *     visited
   * @throws ArithmeticException if a sum exceeds 2⁶³−1
   */
  ShardUsage usage(long firstIndex, List<FieldSpec> specs, long unreadableBytes) {
    fields.forEach(FieldTally::flush);
    List<FieldUsage> fieldUsages = new ArrayList<>();
    Fragmentation fragmentation = Fragmentation.NONE;
    for (int i = 0; i < specs.size(); i++) {
      long absent = absentCount(specs.get(i), fields.get(i));
      fieldUsages.add(fields.get(i).usage(shard.length(), absent));
      fragmentation = fragmentation.plus(fieldUsages.get(i).fragmentation());
    }
    List<ChunkUsage> chunkUsages = new ArrayList<>();
    SpaceUsage space = SpaceUsage.NONE;
    for (ChunkTally chunk : chunks) {
      ChunkUsage usage = chunk.usage(shard.id());
      chunkUsages.add(usage);
      space = space.plus(usage.space());
    }
    long unreadable = Math.min(unreadableBytes, space.paddingBytes());
    SpaceUsage ofShard = new SpaceUsage(
        space.fileBytes(),
        space.liveBytes() + unreadable,
        space.deadBytes(),
        space.paddingBytes() - unreadable,
        ChunkFile.writtenRecords(shard.chunks(), shard.slots()),
        shard.length());
    return new ShardUsage(
        shard.id(), firstIndex, shard.length(), ofShard, fragmentation, chunkUsages, fieldUsages);
  }
}
