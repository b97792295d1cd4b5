package io.zrecord.table;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;

/**
 * Checks the files of shards once more before a manifest names them. Files written by a task may
 * have been removed, or may never have reached this storage. No name is used twice, so a file with
 * the right name and length is the file that was written.
 */
final class ShardCheck {
  /** Most files of a shard that are asked for one by one. */
  private static final int MOST_ASKED = 8;

  /** Shards on local disks that one thread checks sooner than others could be asked to help. */
  private static final int MOST_IN_TURN = 32;

  private final Storage storage;

  ShardCheck(Storage storage) {
    this.storage = storage;
  }

  /** Checks shards none of whose files a version names. */
  long check(List<ShardSummary> shards) {
    return check(shards, Set.of());
  }

  /**
   * Checks shards, with one listing for each shard that is new, or a few requests for the new files
   * of any other: its directory has the files of earlier versions as well. Throws if a file is
   * missing, too short, or, of a tables file or a patch, too long.
   *
   * @param known files that a version names already, which are not looked at
   * @return when the oldest file was changed last, by the storage's clock
   */
  long check(List<ShardSummary> shards, Set<UUID> known) {
    if (!storage.isRemote()) {
      return (shards.size() > MOST_IN_TURN ? shards.parallelStream() : shards.stream())
          .mapToLong(shard -> check(shard, known))
          .min()
          .orElse(Long.MAX_VALUE);
    }
    AtomicLong oldestMillis = new AtomicLong(Long.MAX_VALUE);
    Requests.forEach(
        storage, shards, shard -> oldestMillis.accumulateAndGet(check(shard, known), Math::min));
    return oldestMillis.get();
  }

  /** Checks the shard of an index map likewise, whose field must be that of an index map. */
  long checkIndexMap(ShardSummary map) {
    long oldestMillis = check(map, Set.of());
    IndexMap.requireMap(OpenShards.unshared(storage, map), map, storage);
    return oldestMillis;
  }

  private long check(ShardSummary shard, Set<UUID> known) {
    List<Wanted> all = filesOf(shard);
    List<Wanted> wanted = all.stream().filter(file -> !known.contains(file.id)).toList();
    Function<String, Optional<StoredFile>> look =
        wanted.size() < all.size() && wanted.size() <= MOST_ASKED ? storage::find : listed(wanted);
    long oldestMillis = Long.MAX_VALUE;
    for (Wanted file : wanted) {
      StoredFile found = require(shard, file, look.apply(file.name));
      oldestMillis = Math.min(oldestMillis, found.modifiedMillis());
    }
    return oldestMillis;
  }

  /** A file that a shard names, and how long the file may be. */
  private record Wanted(UUID id, String name, long leastBytes, long mostBytes) {}

  private static List<Wanted> filesOf(ShardSummary shard) {
    List<Wanted> files = new ArrayList<>();
    for (TablesRef tables : shard.tables()) {
      files.add(new Wanted(tables.id(), shard.fileOf(tables), tables.bytes(), tables.bytes()));
    }
    PatchRef patch = shard.patch();
    if (patch != null) {
      files.add(new Wanted(patch.id(), shard.fileOf(patch), patch.bytes(), patch.bytes()));
    }
    for (ChunkFile chunk : shard.chunks()) {
      files.add(new Wanted(chunk.id(), shard.fileOf(chunk), chunk.bytes(), Long.MAX_VALUE));
    }
    return files;
  }

  /** Lists the directories of files. */
  private Function<String, Optional<StoredFile>> listed(List<Wanted> wanted) {
    Map<String, StoredFile> files = new HashMap<>();
    wanted.stream()
        .map(file -> file.name.substring(0, file.name.lastIndexOf('/')))
        .distinct()
        .forEach(directory -> list(directory, files));
    return name -> Optional.ofNullable(files.get(name));
  }

  private void list(String directory, Map<String, StoredFile> files) {
    for (StoredFile file : storage.list(directory)) {
      if (!file.isDirectory()) {
        files.put(directory + "/" + file.name(), file);
      }
    }
  }

  private StoredFile require(ShardSummary shard, Wanted wanted, Optional<StoredFile> found) {
    String path = storage.pathOf(wanted.name);
    StoredFile file = found.orElseThrow(() -> new MissingFileException(
        path,
        "Cannot commit shard " + shard.id() + ": " + path + " is missing; run the write again"));
    if (file.lengthBytes() < wanted.leastBytes || file.lengthBytes() > wanted.mostBytes) {
      throw new CorruptDataException(
          path,
          "Cannot commit shard " + shard.id() + ": " + path + " has " + file.lengthBytes()
              + " bytes instead of " + wanted.leastBytes + "; run the write again");
    }
    return file;
  }
}
