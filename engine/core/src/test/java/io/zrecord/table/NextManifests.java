package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.RecordsVersion;
import io.zrecord.internal.table.TagEntry;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** Manifests of next versions made by hand, for those who publish as nobody must. */
final class NextManifests {
  private NextManifests() {}

  /** Makes the first version of a table of one shard. */
  static Manifest create(RecordSchema schema, ShardSummary shard, long nowMillis) {
    Manifest.Head head = Manifest.Head.after(
        Optional.empty(), UUID.randomUUID(), OptionalLong.empty(), nowMillis, "append", Map.of());
    return new Manifest(
        head,
        schema,
        2,
        List.of(),
        List.of(shard),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(head.asRecords(), 0, List.of()));
  }

  /** Makes a version that has one tag more. */
  static Manifest tag(Manifest newest, TagEntry tag, long nowMillis) {
    List<TagEntry> tags = new ArrayList<>(newest.tags());
    tags.add(tag);
    tags.sort(Comparator.comparing(TagEntry::name));
    Manifest.Head head =
        head(newest, UUID.randomUUID(), Optional.of(newest.commitId()), nowMillis, "tag");
    return next(
        newest,
        head,
        newest.shards(),
        new Manifest.Retention(newest.records(), newest.oldest(), tags));
  }

  /** Makes a version that has one shard more. */
  static Manifest append(Manifest newest, ShardSummary shard, long nowMillis) {
    return append(newest, Optional.of(newest.commitId()), shard, nowMillis);
  }

  /** Makes a version that has one shard more and says that it follows some commit. */
  static Manifest append(
      Manifest newest, Optional<UUID> previous, ShardSummary shard, long nowMillis) {
    List<ShardSummary> shards = new ArrayList<>(newest.shards());
    shards.add(shard);
    UUID commitId = UUID.randomUUID();
    Manifest.Head head = head(newest, commitId, previous, nowMillis, "append");
    return next(
        newest,
        head,
        shards,
        new Manifest.Retention(
            new RecordsVersion(head.version(), commitId), newest.oldest(), newest.tags()));
  }

  private static Manifest.Head head(
      Manifest newest, UUID commitId, Optional<UUID> previous, long nowMillis, String operation) {
    return new Manifest.Head(
        newest.tableId(),
        newest.version() + 1,
        commitId,
        previous,
        OptionalLong.of(newest.version()),
        Math.max(nowMillis, newest.timestampMillis() + 1),
        operation,
        Map.of());
  }

  private static Manifest next(
      Manifest newest,
      Manifest.Head head,
      List<ShardSummary> shards,
      Manifest.Retention retention) {
    return new Manifest(
        head,
        newest.schema(),
        newest.nextFieldId(),
        newest.lists(),
        shards,
        newest.transactions(),
        Optional.empty(),
        retention);
  }
}
