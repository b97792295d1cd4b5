package io.zrecord.verify;

import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.internal.verify.FileProblem;
import io.zrecord.storage.Storage;
import io.zrecord.table.IndexMap;
import io.zrecord.table.RecordTable;
import java.util.BitSet;

/**
 * Checks that an index map gives every record an index of its own. The map is read once for every
 * 2²⁸ records, with one bit for each, so memory is at most 32 MiB. Belongs to one thread.
 */
final class IndexMapCheck {
  private static final int WINDOW = 1 << 28;
  private static final int BLOCK = 1 << 13;

  private final CheckRun run;
  private final Storage storage;
  private final int window;
  private long twice;
  private long example;

  IndexMapCheck(CheckRun run, Storage storage) {
    this(run, storage, WINDOW);
  }

  /**
   * Prepares the check.
   *
   * @param window number of indices to look for in one pass
   */
  IndexMapCheck(CheckRun run, Storage storage, int window) {
    this.run = run;
    this.storage = storage;
    this.window = window;
  }

  /** Checks the map of a version; the version must have a map. */
  void check(long version) {
    try {
      check(RecordTable.at(storage).version(version).indexMap().orElseThrow());
    } catch (ZRecordException e) {
      run.found(Kind.INDEX_MAP, e.resource(), FileProblem.of(e));
    }
  }

  private void check(IndexMap map) {
    for (long low = 0; low < map.length() && twice == 0; low += window) {
      look(map, low, new BitSet((int) Math.min(window, map.length() - low)));
    }
    if (twice > 0) {
      run.found(
          Kind.INDEX_MAP,
          storage.pathOf(map.directory()),
          "more than one record has the new index " + example + "; such records: " + twice
              + " or more");
    }
  }

  /** Reads the map and looks for the indices from {@code low} on. */
  private void look(IndexMap map, long low, BitSet seen) {
    long[] block = new long[BLOCK];
    for (long old = 0; old < map.length(); old += BLOCK) {
      int count = (int) Math.min(BLOCK, map.length() - old);
      map.newIndices(old, block, 0, count);
      for (int i = 0; i < count; i++) {
        long at = block[i] - low;
        if (at < 0 || at >= window) {
          continue;
        }
        if (seen.get((int) at)) {
          twice++;
          example = block[i];
        }
        seen.set((int) at);
      }
    }
  }
}
