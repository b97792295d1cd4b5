package io.zrecord.internal.table;

import io.zrecord.internal.shard.fetch.Requests;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.RandomAccess;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Function;
import java.util.stream.IntStream;

/**
 * The shards of a version in index order. A list of shards is read when one of its shards is wanted
 * for the first time, and stays. Immutable otherwise, and thread-safe.
 *
 * <p>A manifest says how many shards and records each list has, so that the number of shards and of
 * records needs no list, and an index leads to one list.
 */
public final class ListedShards extends AbstractList<ShardSummary> implements RandomAccess {
  private final Node root;

  private ListedShards(Node root) {
    this.root = root;
  }

  /** Returns the shards of a version. Reads nothing yet. */
  static ListedShards of(ManifestLog log, Manifest manifest) {
    Leaf own = new Leaf(manifest.shards());
    return new ListedShards(
        manifest.lists().isEmpty()
            ? own
            : new Inner(log, manifest.lists(), manifest.partitions(), List.of(own)));
  }

  /** Returns the number of shards. */
  @Override
  public int size() {
    return root.count;
  }

  /** Returns the number of records. */
  public long length() {
    return root.length;
  }

  /**
   * Returns a shard.
   *
   * @throws io.zrecord.errors.MissingFileException if the list of the shard is missing
   * @throws io.zrecord.errors.CorruptDataException if the list of the shard is damaged
   */
  @Override
  public ShardSummary get(int ordinal) {
    return root.get(Objects.checkIndex(ordinal, root.count));
  }

  /** Returns the index of the first record of a shard. For {@link #size}, returns the length. */
  public long firstIndex(int ordinal) {
    return ordinal == root.count
        ? root.length
        : root.firstIndex(Objects.checkIndex(ordinal, root.count));
  }

  /** Returns the ordinal of the shard of a record, whose index must be below the length. */
  public int shardOf(long index) {
    return root.shardOf(index);
  }

  /**
   * Reads the lists that have the records of a range and were not read yet, several at a time.
   *
   * @param from first index
   * @param to index after the last
   */
  public void load(long from, long to) {
    root.load(from, to);
  }

  /** Shards that follow one another. Ordinals and indices are counted from the first of them. */
  private abstract static class Node {
    final int count;
    final long length;

    Node(int count, long length) {
      this.count = count;
      this.length = length;
    }

    abstract ShardSummary get(int ordinal);

    abstract long firstIndex(int ordinal);

    abstract int shardOf(long index);

    abstract void load(long from, long to);
  }

  /** The shards of one list, or of a manifest itself. */
  private static final class Leaf extends Node {
    private final List<ShardSummary> shards;
    private final long[] firstIndices;

    Leaf(List<ShardSummary> shards) {
      super(shards.size(), shards.stream().mapToLong(ShardSummary::length).sum());
      this.shards = List.copyOf(shards);
      this.firstIndices = new long[count];
      for (int i = 1; i < count; i++) {
        firstIndices[i] = firstIndices[i - 1] + shards.get(i - 1).length();
      }
    }

    @Override
    ShardSummary get(int ordinal) {
      return shards.get(ordinal);
    }

    @Override
    long firstIndex(int ordinal) {
      return firstIndices[ordinal];
    }

    @Override
    int shardOf(long index) {
      int found = Arrays.binarySearch(firstIndices, index);
      return found >= 0 ? found : -found - 2;
    }

    @Override
    void load(long from, long to) {}
  }

  /** Lists, and after them what is there already. */
  private static final class Inner extends Node {
    private final Storage storage;
    private final int[] firstOrdinals;
    private final long[] firstIndices;
    private final Function<ShardListFile, Node> reading;
    private final List<ShardListFile> lists;
    private final AtomicReferenceArray<Node> children;

    Inner(ManifestLog log, List<ShardListFile> lists, List<Integer> partitions, List<Leaf> rest) {
      super(
          lists.stream().mapToInt(ShardListFile::shardCount).sum()
              + rest.stream().mapToInt(leaf -> leaf.count).sum(),
          lists.stream().mapToLong(ShardListFile::length).sum()
              + rest.stream().mapToLong(leaf -> leaf.length).sum());
      this.storage = log.storage();
      this.lists = lists;
      this.reading = list -> list.isOfLists()
          ? new Inner(log, withShards(log.members(list)), partitions, List.of())
          : new Leaf(log.shards(list, partitions));
      List<Leaf> present = rest.stream().filter(leaf -> leaf.count > 0).toList();
      int childCount = lists.size() + present.size();
      this.firstOrdinals = new int[childCount];
      this.firstIndices = new long[childCount];
      this.children = new AtomicReferenceArray<>(childCount);
      int ordinal = 0;
      long index = 0;
      for (int i = 0; i < childCount; i++) {
        firstOrdinals[i] = ordinal;
        firstIndices[i] = index;
        if (i < lists.size()) {
          ordinal += lists.get(i).shardCount();
          index += lists.get(i).length();
        } else {
          children.set(i, present.get(i - lists.size()));
        }
      }
    }

    private static List<ShardListFile> withShards(List<ShardListFile> lists) {
      return lists.stream().filter(list -> list.shardCount() > 0).toList();
    }

    private Node child(int i) {
      Node child = children.get(i);
      if (child == null) {
        // Two threads may both read, with equal results, because lists never change.
        child = reading.apply(lists.get(i));
        children.set(i, child);
      }
      return child;
    }

    private int childOf(int ordinal) {
      int found = Arrays.binarySearch(firstOrdinals, ordinal);
      return found >= 0 ? found : -found - 2;
    }

    @Override
    ShardSummary get(int ordinal) {
      int i = childOf(ordinal);
      return child(i).get(ordinal - firstOrdinals[i]);
    }

    @Override
    long firstIndex(int ordinal) {
      int i = childOf(ordinal);
      return ordinal == firstOrdinals[i]
          ? firstIndices[i]
          : firstIndices[i] + child(i).firstIndex(ordinal - firstOrdinals[i]);
    }

    @Override
    int shardOf(long index) {
      int i = childAt(index);
      return firstOrdinals[i] + child(i).shardOf(index - firstIndices[i]);
    }

    private int childAt(long index) {
      int found = Arrays.binarySearch(firstIndices, index);
      return found >= 0 ? found : -found - 2;
    }

    @Override
    void load(long from, long to) {
      if (from >= to) {
        return;
      }
      int first = childAt(from);
      int last = childAt(to - 1);
      if (first == last) {
        // Many short ranges cost no more than their look-ups.
        loadChild(first, from, to);
      } else {
        List<Integer> wanted = IntStream.rangeClosed(first, last).boxed().toList();
        if (storage.isRemote()) {
          Requests.forEach(storage, wanted, i -> loadChild(i, from, to));
        } else {
          wanted.parallelStream().forEach(i -> loadChild(i, from, to));
        }
      }
    }

    private void loadChild(int i, long from, long to) {
      child(i).load(Math.max(0, from - firstIndices[i]), to - firstIndices[i]);
    }
  }
}
