package io.zrecord.table;

import io.zrecord.internal.table.ListLimits;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ReplacedShard;
import io.zrecord.internal.table.ReplacedShards;
import io.zrecord.internal.table.ShardListFile;
import io.zrecord.shard.ShardSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The shards of a future version, in index order. The files of lists of the version before are
 * taken over, with what is replaced in them beside; a list of which much is replaced is written
 * again. Shards between and after the lists go to new lists where a list follows or where there are
 * too many shards. Belongs to one thread.
 */
final class ShardSequence {
  private final ManifestLog log;
  private final List<String> written;
  private final ListLimits limits = ListLimits.inForce();
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
        add(list.unreplaced(), list.replaced(), replacements, limits.shards() / 2);
      }
    }
    manifest.shards().forEach(shard -> replacements.next(shard).forEach(this::add));
  }

  /**
   * Takes a list of lists over, with what is replaced in its lists. Takes its lists instead if one
   * of them has to be written again.
   */
  private void addMembers(ShardListFile ofLists, Replacements replacements) {
    List<ShardListFile> members = log.membersToChange(ofLists);
    List<ReplacedShards> before = ofLists.replaced().ofEach(ofLists.file(), members);
    spill(loose.size());
    List<ShardListFile> others = lists;
    lists = new ArrayList<>();
    List<ReplacedShards> after = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      if (replacements.isDone()) {
        addList(members.get(i).then(before.get(i)));
        after.add(before.get(i));
      } else {
        add(members.get(i), before.get(i), replacements, 0).ifPresent(after::add);
      }
    }
    if (after.size() == members.size()) {
      lists = others;
      addList(ofLists.unreplaced().then(ReplacedShards.joined(members, after)));
    } else {
      others.addAll(lists);
      lists = others;
    }
  }

  /**
   * Takes a list over.
   *
   * @param list the list where it stands, before a file above it replaces shards
   * @param replaced what that file has replaced so far
   * @param fewest how many shards a list has at least that is not put together with the next one
   * @return what is replaced now; empty if the list is to be written again
   */
  private Optional<ReplacedShards> add(
      ShardListFile list, ReplacedShards replaced, Replacements replacements, int fewest) {
    List<ShardSummary> inFile = log.shardsToChange(list);
    List<ShardSummary> shards = list.replaced().exchangedIn(list.file(), inFile);
    List<ShardSummary> before = log.standing(list.then(replaced), inFile);
    if (!replacements.touch(before)) {
      if (loose.size() + before.size() <= limits.shards()
          && (!loose.isEmpty() || before.size() < fewest)) {
        // Keeps lists from becoming smaller and smaller.
        before.forEach(this::add);
        return Optional.empty();
      }
      addList(list.then(replaced));
      return Optional.of(replaced);
    }
    ReplacedShards after = replaced(shards, replaced, replacements);
    ShardListFile changed = list.then(after);
    if (changed.isMostlyUnreplaced(limits)) {
      addList(changed);
      return Optional.of(after);
    }
    log.standing(changed, inFile).forEach(this::add);
    return Optional.empty();
  }

  private static ReplacedShards replaced(
      List<ShardSummary> shards, ReplacedShards before, Replacements replacements) {
    List<ReplacedShard> after = new ArrayList<>();
    int at = 0;
    for (int i = 0; i < shards.size(); i++) {
      List<ShardSummary> unreplaced = List.of(shards.get(i));
      boolean isReplaced =
          at < before.inOrder().size() && before.inOrder().get(at).ordinal() == i;
      List<ShardSummary> standing = isReplaced ? before.inOrder().get(at++).shards() : unreplaced;
      List<ShardSummary> next =
          standing.stream().flatMap(shard -> replacements.next(shard).stream()).toList();
      if (!next.equals(unreplaced)) {
        after.add(new ReplacedShard(i, shards.get(i).length(), next));
      }
    }
    return new ReplacedShards(after);
  }

  private void addList(ShardListFile list) {
    if (list.shardCount() > 0) {
      spill(loose.size());
      lists.add(list);
    }
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
    if (loose.size() > limits.shards()) {
      spill(loose.size() - loose.size() % limits.shards());
    }
    if (loose.size() + ListFolding.weightOf(lists) > limits.shards()
        && loose.size() >= limits.shards() / 2) {
      spill(loose.size());
    }
    lists = new ListFolding(log, written).fold(lists, loose.size());
    return lists;
  }

  /** Returns the shards after the lists. */
  List<ShardSummary> rest() {
    return loose;
  }
}
