package io.zrecord.table.write;

import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/** Puts shards together from the files of their fields (FORMAT.md section 7). Stateless. */
public final class ShardFields {
  private ShardFields() {}

  /**
   * Returns a shard with the files of some fields, which replace those fields of the shard. Files
   * that no field needs any more are not named. Reads the tables of a replaced field's neighbours.
   *
   * @param added what {@link ShardWriter#ofFields} wrote for the shard
   */
  public static ShardSummary with(Storage storage, ShardSummary shard, ShardSummary added) {
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
    List<ChunkFile> chunks =
        new ArrayList<>(isReplaced ? used(storage, shard, tables) : shard.chunks());
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
        shard.patch(),
        shard.unknown());
  }

  /** Returns the chunks that the fields of some tables files need. */
  private static List<ChunkFile> used(Storage storage, ShardSummary shard, List<TablesRef> tables) {
    Set<UUID> used = new HashSet<>();
    tables.forEach(file ->
        used.addAll(TablesFile.open(storage, shard, file, kept -> {}).usedChunks(file.fieldIds())));
    return shard.chunks().stream().filter(chunk -> used.contains(chunk.id())).toList();
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
        new TreeMap<>());
  }
}
