package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.local.LocalStorage;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Snapshots without files, for tests of planning. */
public final class Snapshots {
  private Snapshots() {}

  /** Returns a snapshot of these shards. */
  public static TableSnapshot of(RecordSchema schema, List<ShardSummary> shards) {
    Manifest manifest = new Manifest(
        new UUID(0, 1),
        0,
        new UUID(0, 2),
        0,
        "append",
        Map.of(),
        9,
        schema,
        List.of(),
        shards,
        Map.of());
    return new TableSnapshot(LocalStorage.at(Path.of("none")), manifest, () -> shards);
  }
}
