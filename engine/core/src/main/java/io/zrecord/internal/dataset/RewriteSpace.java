package io.zrecord.internal.dataset;

import io.zrecord.errors.DiskFullException;
import io.zrecord.storage.Storage;

/**
 * Checks that there is room before a dataset is rewritten next to itself. Writes by others
 * meanwhile are not foreseen. Stateless.
 */
public enum RewriteSpace {
  STORE("move the store"),
  TABLE("expire versions that nobody needs and sweep, or move the table");

  private final String remedy;

  RewriteSpace(String remedy) {
    this.remedy = remedy;
  }

  public void require(Storage storage, long neededBytes) {
    require(storage.location(), neededBytes, storage.usableBytes());
  }

  /**
   * Checks the space.
   *
   * @param neededBytes bytes about to be written
   * @param usableBytes bytes left on the file system
   * @throws DiskFullException if the space is too small
   */
  public void require(String location, long neededBytes, long usableBytes) {
    if (usableBytes < neededBytes) {
      throw new DiskFullException(
          location,
          "Cannot rebalance " + location + ": new chunks and tables need " + neededBytes
              + " bytes beside the old ones, but its file system has only " + usableBytes
              + " left. Free at least " + (neededBytes - usableBytes) + " bytes there, or " + remedy
              + "; it is as it was");
    }
  }
}
