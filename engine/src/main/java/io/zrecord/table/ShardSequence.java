package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.List;

/**
 * The shards of a future version, in index order. Lists of the version before are taken over
 * unchanged. Shards between and after the lists go to new lists where a list follows or where there
 * are too many shards. Belongs to one thread.
 */
final class ShardSequence {
  private final ManifestLog log;
  private final List<ShardListFile> written;
  private final List<ShardListFile> lists = new ArrayList<>();
  private List<ShardSummary> loose = new ArrayList<>();

  /**
   * Starts an empty sequence.
   *
   * @param written takes the new lists, so that the caller can delete them after a failure
   */
  ShardSequence(ManifestLog log, List<ShardListFile> written) {
    this.log = log;
    this.written = written;
  }

  /** Takes over the shards of a version, except replaced ones. */
  void add(Manifest manifest, Replacements replacements) {
    for (ShardListFile list : manifest.lists()) {
      if (replacements.isEmpty()) {
        addList(list);
        continue;
      }
      List<ShardSummary> shards = log.shardsToChange(list);
      if (replacements.touch(shards)) {
        shards.forEach(shard -> replacements.next(shard).forEach(this::add));
      } else if (loose.size() + shards.size() <= ShardListFile.MAX_SHARDS
          && (!loose.isEmpty() || shards.size() < ShardListFile.MAX_SHARDS / 2)) {
        // Keeps lists from becoming smaller and smaller.
        shards.forEach(this::add);
      } else {
        addList(list);
      }
    }
    manifest.shards().forEach(shard -> replacements.next(shard).forEach(this::add));
    replacements.requireDone();
  }

  private void addList(ShardListFile list) {
    spill(loose.size());
    lists.add(list);
  }

  void add(ShardSummary shard) {
    loose.add(shard);
  }

  private void spill(int count) {
    if (count > 0) {
      int before = written.size();
      log.writeLists(loose.subList(0, count), written);
      lists.addAll(written.subList(before, written.size()));
      loose = new ArrayList<>(loose.subList(count, loose.size()));
    }
  }

  /** Returns all lists. Call this after all shards were added. */
  List<ShardListFile> lists() {
    if (loose.size() > ShardListFile.MAX_SHARDS) {
      spill(loose.size() - loose.size() % ShardListFile.MAX_SHARDS);
    }
    return lists;
  }

  /** Returns the shards after the lists. */
  List<ShardSummary> rest() {
    return loose;
  }
}
