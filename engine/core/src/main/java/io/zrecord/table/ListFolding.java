package io.zrecord.table;

import io.zrecord.internal.table.ListLimits;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.ShardListFile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Moves what a manifest would hold beyond its limits to lists of lists: shards that stand in the
 * place of others, and elements for lists. Belongs to one thread.
 */
final class ListFolding {
  private final ManifestLog log;
  private final List<String> written;
  private final ListLimits limits = ListLimits.inForce();

  /**
   * Prepares to fold.
   *
   * @param written takes the new lists, so that the caller can delete them after a failure
   */
  ListFolding(ManifestLog log, List<String> written) {
    this.log = log;
    this.written = written;
  }

  /** Lists that follow one another: one list of lists, or all lists of shards beside each other. */
  private record Run(List<ShardListFile> lists) {
    int weight() {
      return weightOf(lists);
    }
  }

  static int weightOf(List<ShardListFile> lists) {
    return lists.stream().mapToInt(list -> list.replaced().weight()).sum();
  }

  /** Returns the lists as a manifest may name them beside some shards. */
  List<ShardListFile> fold(List<ShardListFile> lists, int shards) {
    return foldOldest(shards + weightOf(lists) > limits.shards() ? foldReplaced(lists) : lists);
  }

  /**
   * Writes shards that stand in the place of others to lists of lists, until few of them are left.
   * Begins where most of them are: a list of lists is written whole, with all that was replaced in
   * its lists before.
   */
  private List<ShardListFile> foldReplaced(List<ShardListFile> lists) {
    List<Run> runs = runs(lists);
    List<Run> folded = new ArrayList<>();
    int left = weightOf(lists);
    for (Run run :
        runs.stream().sorted(Comparator.comparing(Run::weight).reversed()).toList()) {
      if (left > limits.shards() / 4) {
        folded.add(run);
        left -= run.weight();
      }
    }
    List<ShardListFile> all = new ArrayList<>();
    List<ShardListFile> pending = new ArrayList<>();
    for (Run run : runs) {
      if (folded.contains(run)) {
        run.lists.forEach(list -> pending.addAll(singles(list)));
      } else {
        all.addAll(divided(pending));
        pending.clear();
        all.addAll(run.lists);
      }
    }
    all.addAll(divided(pending));
    return all;
  }

  private static List<Run> runs(List<ShardListFile> lists) {
    List<Run> runs = new ArrayList<>();
    for (int from = 0; from < lists.size(); ) {
      int to = from + 1;
      if (!lists.get(from).isOfLists()) {
        while (to < lists.size() && !lists.get(to).isOfLists()) {
          to++;
        }
      }
      runs.add(new Run(lists.subList(from, to)));
      from = to;
    }
    return runs;
  }

  private List<ShardListFile> singles(ShardListFile list) {
    return list.isOfLists()
        ? list.standing(log.membersToChange(list)).stream()
            .filter(member -> member.shardCount() > 0)
            .toList()
        : List.of(list);
  }

  /** Writes lists of lists of about the same weight. */
  private List<ShardListFile> divided(List<ShardListFile> lists) {
    int weight = weightOf(lists);
    int parts = Math.max(1, (weight + limits.shards() - 1) / limits.shards());
    List<ShardListFile> written = new ArrayList<>();
    List<ShardListFile> part = new ArrayList<>();
    for (ShardListFile list : lists) {
      boolean isFull = part.size() == limits.lists()
          || weightOf(part) + list.replaced().weight() > limits.shards()
          || (weight > 0 && weightOf(part) >= (weight + parts - 1) / parts);
      if (!part.isEmpty() && isFull) {
        written.add(write(part));
        part.clear();
      }
      part.add(list);
    }
    if (!part.isEmpty()) {
      written.add(write(part));
    }
    return written;
  }

  private ShardListFile write(List<ShardListFile> lists) {
    return log.writeListOfLists(List.copyOf(lists), written);
  }

  /**
   * Puts the oldest lists of shards into lists of lists, until there are few enough besides. So a
   * commit writes the shards that it adds or replaces, a bounded number of neighbours, and one
   * entry for each hundred thousand of shards.
   */
  private List<ShardListFile> foldOldest(List<ShardListFile> lists) {
    long single = lists.stream().filter(list -> !list.isOfLists()).count();
    List<ShardListFile> folded = new ArrayList<>();
    for (int i = 0; i < lists.size(); ) {
      int to = i;
      while (to < lists.size() && to - i < limits.lists() && !lists.get(to).isOfLists()) {
        to++;
      }
      if (to == i || single <= limits.listsOfManifest()) {
        folded.add(lists.get(i++));
      } else {
        folded.add(write(lists.subList(i, to)));
        single -= to - i;
        i = to;
      }
    }
    return folded;
  }
}
