package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.time.Duration;
import java.time.InstantSource;

/** Care of tables as it is done later, so that what was just written is old enough. */
public final class LaterTable {
  private LaterTable() {}

  /** Returns the table with a clock that is 300 days ahead. */
  public static RecordTable of(Storage storage) {
    return RecordTable.at(
        storage, InstantSource.offset(InstantSource.system(), Duration.ofDays(300)));
  }

  /** Expires every version that changed records but the newest ones. */
  public static ExpireResult expire(Storage storage, int keepVersions) {
    return of(storage).expire(ExpireOptions.defaults().withKeepVersions(keepVersions));
  }
}
