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
  private final List<String> written;
  private List<ShardListFile> lists = new ArrayList<>();
  private List<ShardSummary> loose = new ArrayList<>();

  /**
   * Starts an empty sequence.
   *
   * @param written takes the new lists, so that the caller can delete them after a failure
   */
  ShardSequence(ManifestLog log, List<String> written) {
    this.log = log;
    this.written = written;
  }

  /** Takes over the shards of a version, except replaced ones. */
  void add(Manifest manifest, Replacements replacements) {
    for (ShardListFile list : manifest.lists()) {
      if (replacements.isDone()) {
        addList(list);
      } else if (list.isOfLists()) {
        addMembers(list, replacements);
      } else {
        add(list, replacements);
      }
    }
    manifest.shards().forEach(shard -> replacements.next(shard).forEach(this::add));
  }

  /** Takes a list of lists over, or the new lists if one of its shards is replaced. */
  private void addMembers(ShardListFile ofLists, Replacements replacements) {
    List<ShardListFile> members = log.membersToChange(ofLists);
    spill(loose.size());
    List<ShardListFile> before = lists;
    lists = new ArrayList<>();
    for (ShardListFile list : members) {
      if (replacements.isDone()) {
        addList(list);
      } else {
        add(list, replacements);
      }
    }
    boolean isSame = loose.isEmpty() && lists.equals(members);
    before.addAll(isSame ? List.of(ofLists) : lists);
    lists = before;
  }

  private void add(ShardListFile list, Replacements replacements) {
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

  private void addList(ShardListFile list) {
    spill(loose.size());
    lists.add(list);
  }

  void add(ShardSummary shard) {
    loose.add(shard);
  }

  private void spill(int count) {
    if (count > 0) {
      lists.addAll(log.writeLists(loose.subList(0, count), written));
      loose = new ArrayList<>(loose.subList(count, loose.size()));
    }
  }

  /** Returns all lists. Call this after all shards were added. */
  List<ShardListFile> lists() {
    if (loose.size() > ShardListFile.MAX_SHARDS) {
      spill(loose.size() - loose.size() % ShardListFile.MAX_SHARDS);
    }
    fold();
    return lists;
  }

  /**
   * Puts the oldest lists of shards into lists of lists, until there are few enough besides. So a
   * commit writes the shards that it adds or replaces, a bounded number of neighbours, and one
   * entry for each hundred thousand of shards.
   */
  private void fold() {
    long single = lists.stream().filter(list -> !list.isOfLists()).count();
    List<ShardListFile> folded = new ArrayList<>();
    for (int i = 0; i < lists.size(); ) {
      int to = i;
      while (to < lists.size()
          && to - i < ShardListFile.MAX_LISTS
          && !lists.get(to).isOfLists()) {
        to++;
      }
      if (to == i || single <= ShardListFile.MAX_LISTS_OF_MANIFEST) {
        folded.add(lists.get(i++));
      } else {
        folded.add(log.writeListOfLists(lists.subList(i, to), written));
        single -= to - i;
        i = to;
      }
    }
    lists = folded;
  }

  /** Returns the shards after the lists. */
  List<ShardSummary> rest() {
    return loose;
  }
}
