package io.zrecord.changes;

import io.zrecord.internal.format.Origins;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Finds the deleted record of each inserted one that was in another shard. What an inserted shard
 * says is believed only if the version deleted that record, and of one inserted record only.
 * Belongs to one thread.
 */
final class MovedPairs {
  private final Storage storage;
  private final Map<UUID, ShardChanges> sources = new HashMap<>();
  private final Map<UUID, Source> opened = new HashMap<>();

  private MovedPairs(Storage storage) {
    this.storage = storage;
  }

  /** A shard from which the version deleted records. */
  private static final class Source {
    private final long firstIndex;
    private final long slots;
    private final @Nullable RankedBitmap deadBefore;

    /** What is deleted afterwards; null if the shard is gone. */
    private final @Nullable RankedBitmap deadAfter;

    private final boolean isGone;
    private final Set<Long> taken = new HashSet<>();

    Source(
        ShardChanges changes,
        ShardSummary before,
        @Nullable PatchFile then,
        @Nullable PatchFile now) {
      this.firstIndex = changes.firstBefore();
      this.slots = before.slots();
      this.deadBefore = then == null ? null : then.deleted();
      this.deadAfter = now == null ? null : now.deleted();
      this.isGone = changes.after() == null;
    }

    /** Returns the index before of the record of a slot, if the version deleted the record. */
    Optional<Long> take(long slot) {
      boolean wasThere = slot < slots && (deadBefore == null || !deadBefore.contains(slot));
      boolean isDeleted = isGone || (deadAfter != null && deadAfter.contains(slot));
      if (!wasThere || !isDeleted || !taken.add(slot)) {
        return Optional.empty();
      }
      return Optional.of(firstIndex + slot - (deadBefore == null ? 0 : deadBefore.rank(slot)));
    }
  }

  static RecordMoves of(Storage storage, List<ShardChanges> shards) {
    MovedPairs pairs = new MovedPairs(storage);
    shards.forEach(changes -> {
      ShardSummary before = changes.before();
      if (before != null) {
        pairs.sources.put(before.id(), changes);
      }
    });
    if (pairs.sources.isEmpty()) {
      return RecordMoves.NONE;
    }
    List<ShardChanges> inserted =
        shards.stream().filter(changes -> changes.before() == null).toList();
    Origins[] origins = new Origins[inserted.size()];
    Requests.forEach(
        storage,
        IntStream.range(0, origins.length).boxed().toList(),
        i -> origins[i] =
            originsOf(storage, Objects.requireNonNull(inserted.get(i).after())));
    List<Long> before = new ArrayList<>();
    List<Long> after = new ArrayList<>();
    for (int i = 0; i < origins.length; i++) {
      pairs.add(origins[i], inserted.get(i).firstAfter(), before, after);
    }
    return new RecordMoves(
        before.stream().mapToLong(Long::longValue).toArray(),
        after.stream().mapToLong(Long::longValue).toArray());
  }

  /** Returns what one file of a shard says. Another one would say it of the same records. */
  private static Origins originsOf(Storage storage, ShardSummary inserted) {
    Origins origins = Origins.NONE;
    for (int i = 0; i < inserted.tables().size() && origins.count() == 0; i++) {
      origins = TablesFile.open(storage, inserted, inserted.tables().get(i), kept -> {})
          .origins();
    }
    return origins;
  }

  private void add(Origins origins, long firstIndex, List<Long> before, List<Long> after) {
    for (int i = 0; i < origins.count(); i++) {
      long index = firstIndex + origins.slot(i);
      long place = origins.place(i);
      source(origins.shard(i)).flatMap(source -> source.take(place)).ifPresent(from -> {
        before.add(from);
        after.add(index);
      });
    }
  }

  private Optional<Source> source(UUID shard) {
    Source known = opened.get(shard);
    ShardChanges changes = sources.get(shard);
    ShardSummary before = changes == null ? null : changes.before();
    if (known != null || changes == null || before == null) {
      return Optional.ofNullable(known);
    }
    ShardSummary after = changes.after();
    Source source =
        new Source(changes, before, patchOf(before), after == null ? null : patchOf(after));
    opened.put(shard, source);
    return Optional.of(source);
  }

  private @Nullable PatchFile patchOf(ShardSummary shard) {
    return shard.patch() == null ? null : OpenShards.unshared(storage, shard).patch();
  }
}
