package io.zrecord.table.write;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchWithoutFields;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Puts shards together from the files of their fields (FORMAT.md section 7). Stateless. */
public final class ShardFields {
  private ShardFields() {}

  /**
   * Returns a shard with the files of some fields, whose new values a patch of the same commit has.
   *
   * @param patched the shard with the patch
   * @param added what {@link ShardWriter#ofFields} wrote for the shard
   */
  public static ShardSummary ofSameCommit(
      Storage storage, ShardSummary patched, ShardSummary added, Durability durability) {
    return with(storage, patched, added, PatchWithoutFields.Commit.SAME, durability);
  }

  /**
   * Returns a shard with the files of some fields, which replace those fields of the shard. If the
   * patch of the shard has values of the fields, writes a patch without them. Files that nothing
   * needs any more are not named. Reads the tables of a replaced field's neighbours.
   *
   * @param added what {@link ShardWriter#ofFields} wrote for the shard
   * @param durability of the patch
   */
  public static ShardSummary with(
      Storage storage, ShardSummary shard, ShardSummary added, Durability durability) {
    return with(storage, shard, added, PatchWithoutFields.Commit.EARLIER, durability);
  }

  private static ShardSummary with(
      Storage storage,
      ShardSummary shard,
      ShardSummary added,
      PatchWithoutFields.Commit commit,
      Durability durability) {
    Set<Integer> written = new HashSet<>();
    added.tables().forEach(file -> written.addAll(file.fieldIds()));
    List<TablesRef> tables = new ArrayList<>();
    boolean isReplaced = false;
    for (TablesRef file : shard.tables()) {
      List<Integer> kept =
          file.fieldIds().stream().filter(id -> !written.contains(id)).toList();
      isReplaced |= kept.size() < file.fieldIds().size();
      if (!kept.isEmpty()) {
        tables.add(new TablesRef(
            file.id(),
            file.bytes(),
            file.jsonPosition(),
            file.jsonBytes(),
            file.jsonChecksum(),
            kept));
      }
    }
    PatchFile patch = OpenShards.unshared(storage, shard).patch();
    Set<UUID> replaced = isReplaced ? unused(storage, shard, tables, patch) : Set.of();
    ShardSummary left = patch == null
        ? shard
        : PatchWithoutFields.write(
            storage, shard, patch, written, UUID.randomUUID(), commit, durability);
    List<ChunkFile> chunks = new ArrayList<>(left.chunks());
    chunks.removeIf(chunk -> replaced.contains(chunk.id()));
    chunks.addAll(added.chunks());
    tables.addAll(added.tables());
    SortedMap<Integer, Long> values = new TreeMap<>(shard.valueBytes());
    values.putAll(added.valueBytes());
    return new ShardSummary(
        shard.id(),
        shard.length(),
        chunks,
        tables,
        values,
        shard.partition(),
        left.patch(),
        shard.unknown());
  }

  /** Returns the chunks that neither the fields of some tables files need nor the patch. */
  private static Set<UUID> unused(
      Storage storage, ShardSummary shard, List<TablesRef> tables, @Nullable PatchFile patch) {
    Set<UUID> chunks = new HashSet<>();
    shard.chunks().forEach(chunk -> chunks.add(chunk.id()));
    for (TablesRef file : tables) {
      chunks.removeAll(
          TablesFile.open(storage, shard, file, kept -> {}).usedChunks(file.fieldIds()));
    }
    if (patch != null) {
      patch.json().chunks().forEach(chunk -> chunks.remove(chunk.id()));
    }
    return chunks;
  }

  /** Returns a shard with only those files that another record of the shard does not name. */
  public static ShardSummary filesOf(ShardSummary shard, ShardSummary before) {
    Set<UUID> known = new HashSet<>();
    before.chunks().forEach(chunk -> known.add(chunk.id()));
    before.tables().forEach(file -> known.add(file.id()));
    return new ShardSummary(
        shard.id(),
        shard.length(),
        shard.chunks().stream().filter(chunk -> !known.contains(chunk.id())).toList(),
        shard.tables().stream().filter(file -> !known.contains(file.id())).toList(),
        new TreeMap<>(),
        List.of(),
        Objects.equals(shard.patch(), before.patch()) ? null : shard.patch(),
        "");
  }
}
