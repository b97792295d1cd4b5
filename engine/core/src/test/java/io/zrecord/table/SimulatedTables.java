package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.RecordsVersion;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/** Tables of many shards that have records in manifests and lists, and no files. */
final class SimulatedTables {
  private static final UUID COMMIT = new UUID(0, 7);

  private SimulatedTables() {}

  /**
   * Returns the record of a shard of 1,000 records and 64 MiB, whose uuids follow from its number.
   *
   * @param fields number of its fields
   */
  static ShardSummary shard(int number, int fields) {
    TreeMap<Integer, Long> values = new TreeMap<>();
    IntStream.rangeClosed(1, fields).forEach(id -> values.put(id, (64L << 20) / fields));
    long high = 0x9e3779b97f4a7c15L * (number + 1);
    return new ShardSummary(
        new UUID(high, 1),
        1000,
        List.of(ChunkFile.of(new UUID(high, 2), 67_108_928)),
        List.of(new TablesRef(
            new UUID(high, 3),
            20_480 + 777 + 16,
            20_480,
            777,
            number,
            List.copyOf(values.keySet()))),
        values);
  }

  /** Publishes version 0 with the first of these shards, as a commit writes it. */
  static Manifest publish(Storage storage, int shards, int fields) {
    ManifestLog log = new ManifestLog(storage);
    ShardSequence sequence = new ShardSequence(log, new ArrayList<>());
    IntStream.range(0, shards).forEach(number -> sequence.add(shard(number, fields)));
    List<ShardListFile> lists = sequence.lists();
    return publish(log, lists, sequence.rest());
  }

  /**
   * Publishes version 0 with lists of one shard each, and some shards after them.
   *
   * @param shards returns the shard of an ordinal
   */
  static Manifest publishShortLists(
      Storage storage, int lists, int rest, IntFunction<ShardSummary> shards) {
    ManifestLog log = new ManifestLog(storage);
    List<ShardListFile> written = new ArrayList<>();
    for (int number = 0; number < lists; number++) {
      written.addAll(log.writeLists(List.of(shards.apply(number)), new ArrayList<>()));
    }
    return publish(
        log, written, IntStream.range(lists, lists + rest).mapToObj(shards).toList());
  }

  /** Publishes version 0 with lists and with shards after them. */
  static Manifest publish(ManifestLog log, List<ShardListFile> lists, List<ShardSummary> rest) {
    Manifest manifest = new Manifest(
        new Manifest.Head(
            new UUID(0, 6),
            0,
            COMMIT,
            Optional.empty(),
            OptionalLong.empty(),
            1,
            "create",
            Map.of()),
        Shards.SCHEMA,
        2,
        lists,
        rest,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(0, COMMIT), 0, List.of()));
    log.publish(manifest);
    log.leaveHint(manifest);
    return manifest;
  }
}
