package io.zrecord.rebalance;

import io.zrecord.errors.DiskFullException;
import io.zrecord.storage.Storage;

/** Looks for room before a dataset is rewritten beside itself; what others write meanwhile is not foreseen. Stateless. */
enum RewriteSpace {
  STORE("move the store"),
  TABLE("expire versions that nobody needs and sweep, or move the table");

  private final String remedy;

  RewriteSpace(String remedy) {
    this.remedy = remedy;
  }

  void require(Storage storage, long neededBytes) {
    require(storage.location(), neededBytes, storage.usableBytes());
  }

  /**
   * Checks.
   *
   * @param neededBytes what is going to be written
   * @param usableBytes what the file system has left
   * @throws DiskFullException if that is not enough
   */
  void require(String location, long neededBytes, long usableBytes) {
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
