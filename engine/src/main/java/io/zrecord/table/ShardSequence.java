package io.zrecord.table;

import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardList;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.List;

/**
 * The shards of a version to be, in index order: lists that are taken over from the version before as they are, and shards between and behind
 * them, which go to lists of their own where a list follows or where there are too many. Belongs to one thread.
 */
final class ShardSequence {
  private final ManifestLog log;
  private final List<ShardList> written;
  private final List<ShardList> lists = new ArrayList<>();
  private List<ShardSummary> loose = new ArrayList<>();

  /** @param written takes the lists that are written, so that the caller can delete them after a failure */
  ShardSequence(ManifestLog log, List<ShardList> written) {
    this.log = log;
    this.written = written;
  }

  /** Takes over the shards of a version, but for those that are replaced. */
  void add(Manifest manifest, Replacements replacements) {
    for (ShardList list : manifest.lists()) {
      if (replacements.isEmpty()) {
        addList(list);
        continue;
      }
      List<ShardSummary> shards = log.shards(list);
      if (replacements.touch(shards)) {
        shards.forEach(shard -> replacements.next(shard).forEach(this::add));
      } else if (loose.size() + shards.size() <= ShardList.MAX_SHARDS
          && (!loose.isEmpty() || shards.size() < ShardList.MAX_SHARDS / 2)) {
        // So that lists do not become smaller and smaller.
        shards.forEach(this::add);
      } else {
        addList(list);
      }
    }
    manifest.shards().forEach(shard -> replacements.next(shard).forEach(this::add));
    replacements.requireDone();
  }

  private void addList(ShardList list) {
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

  /** All lists; to be asked when all shards are added. */
  List<ShardList> lists() {
    if (loose.size() > ShardList.MAX_SHARDS) {
      spill(loose.size() - loose.size() % ShardList.MAX_SHARDS);
    }
    return lists;
  }

  /** The shards behind the lists. */
  List<ShardSummary> rest() {
    return loose;
  }
}
