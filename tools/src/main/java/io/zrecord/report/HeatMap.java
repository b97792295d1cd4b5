package io.zrecord.report;

import io.zrecord.inspect.ChunkUsage;
import io.zrecord.inspect.Fragmentation;
import io.zrecord.inspect.ShardUsage;
import io.zrecord.inspect.SpaceUsage;
import java.util.ArrayList;
import java.util.List;

/**
 * Arranges the chunks of a dataset for a picture of bounded size: a cell for each chunk, in groups
 * by shard. If there are too many, neighbouring cells of a group are joined, and so are
 * neighbouring groups, doubling their size each time. Belongs to one thread.
 */
final class HeatMap {
  private final int maxCells;
  private final int maxGroups;
  private final List<Group> groups = new ArrayList<>();
  private int shardsPerGroup = 1;
  private int chunksPerCell = 1;
  private long cellCount;
  private long shardCount;

  /**
   * Consecutive chunks.
   *
   * @param chunkCount number of chunks
   * @param first the first chunk
   * @param space of all chunks together
   */
  record Cell(int chunkCount, ChunkUsage first, SpaceUsage space) {
    Cell plus(Cell other) {
      return new Cell(chunkCount + other.chunkCount, first, space.plus(other.space));
    }
  }

  /** Consecutive shards. */
  static final class Group {
    private final ShardUsage first;
    private ShardUsage last;
    private final List<Cell> cells = new ArrayList<>();
    private final Fragmentation[] fragmentation;
    private long shardCount;
    private long chunkCount;
    private long recordCount;
    private SpaceUsage space = SpaceUsage.NONE;

    private Group(ShardUsage first) {
      this.first = first;
      this.last = first;
      this.fragmentation = new Fragmentation[first.fields().size()];
      java.util.Arrays.fill(fragmentation, Fragmentation.NONE);
    }

    private void add(ShardUsage shard, int chunksPerCell) {
      last = shard;
      shardCount++;
      chunkCount += shard.chunks().size();
      recordCount += shard.recordCount();
      space = space.plus(shard.space());
      for (int i = 0; i < fragmentation.length; i++) {
        fragmentation[i] = fragmentation[i].plus(shard.fields().get(i).fragmentation());
      }
      for (ChunkUsage chunk : shard.chunks()) {
        append(new Cell(1, chunk, chunk.space()), chunksPerCell);
      }
    }

    private void append(Cell cell, int chunksPerCell) {
      int last = cells.size() - 1;
      if (last >= 0 && cells.get(last).chunkCount + cell.chunkCount <= chunksPerCell) {
        cells.set(last, cells.get(last).plus(cell));
      } else {
        cells.add(cell);
      }
    }

    private void join(int chunksPerCell) {
      List<Cell> before = List.copyOf(cells);
      cells.clear();
      before.forEach(cell -> append(cell, chunksPerCell));
    }

    private void take(Group next, int chunksPerCell) {
      last = next.last;
      shardCount += next.shardCount;
      chunkCount += next.chunkCount;
      recordCount += next.recordCount;
      space = space.plus(next.space);
      for (int i = 0; i < fragmentation.length; i++) {
        fragmentation[i] = fragmentation[i].plus(next.fragmentation[i]);
      }
      next.cells.forEach(cell -> append(cell, chunksPerCell));
    }

    long shardCount() {
      return shardCount;
    }

    long chunkCount() {
      return chunkCount;
    }

    /** Returns the index of the group's first record. */
    long firstIndex() {
      return first.firstIndex();
    }

    /**
     * Returns the index of the group's last record; one less than the first index if there is none.
     * In a sample, some records between the two belong to no group.
     */
    long lastIndex() {
      return last.firstIndex() + last.recordCount() - 1;
    }

    long recordCount() {
      return recordCount;
    }

    SpaceUsage space() {
      return space;
    }

    List<Cell> cells() {
      return cells;
    }

    /** Returns the fragmentation of a field, given by its ordinal. */
    Fragmentation fragmentation(int ordinal) {
      return fragmentation[ordinal];
    }
  }

  /**
   * Creates an empty map.
   *
   * @param maxCells most cells, >= {@code maxGroups}
   * @param maxGroups most groups, >= 1
   */
  HeatMap(int maxCells, int maxGroups) {
    this.maxCells = maxCells;
    this.maxGroups = maxGroups;
  }

  /** Adds the next shard. */
  void add(ShardUsage shard) {
    if (shardCount++ % shardsPerGroup == 0) {
      groups.add(new Group(shard));
    }
    groups.get(groups.size() - 1).add(shard, chunksPerCell);
    while (groups.size() > maxGroups) {
      joinGroups();
    }
    countCells();
    while (cellCount > maxCells) {
      chunksPerCell *= 2;
      groups.forEach(group -> group.join(chunksPerCell));
      countCells();
    }
  }

  private void joinGroups() {
    List<Group> before = List.copyOf(groups);
    groups.clear();
    shardsPerGroup *= 2;
    for (int i = 0; i < before.size(); i++) {
      if (i % 2 == 0) {
        groups.add(before.get(i));
      } else {
        groups.get(groups.size() - 1).take(before.get(i), chunksPerCell);
      }
    }
  }

  private void countCells() {
    cellCount = groups.stream().mapToLong(group -> group.cells.size()).sum();
  }

  List<Group> groups() {
    return groups;
  }

  /** Returns the number of shards of each group except the last. */
  int shardsPerGroup() {
    return shardsPerGroup;
  }

  /** Returns the greatest number of chunks of a cell. */
  int chunksPerCell() {
    return chunksPerCell;
  }

  long cellCount() {
    return cellCount;
  }
}
