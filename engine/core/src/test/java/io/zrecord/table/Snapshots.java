package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.RecordsVersion;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/** Snapshots without files, for tests of planning. */
public final class Snapshots {
  private Snapshots() {}

  /** Returns a snapshot of these shards. */
  public static TableSnapshot of(RecordSchema schema, List<ShardSummary> shards) {
    UUID commit = new UUID(0, 2);
    Manifest manifest = new Manifest(
        new Manifest.Head(
            new UUID(0, 1),
            0,
            commit,
            Optional.empty(),
            OptionalLong.empty(),
            0,
            "append",
            Map.of()),
        schema,
        9,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(0, commit), 0, List.of()));
    return new TableSnapshot(LocalStorage.at(Path.of("none")), manifest);
  }
}
