package io.zrecord.table;

import io.zrecord.shard.ShardSummary;
import java.io.Serializable;
import java.util.Collections;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Says what {@link ShardChangeWriter} has written for one shard. {@link MergeChange} commits it. A
 * task sends this to its driver: some hundred bytes and some for each field and each chunk of the
 * shard, however many records are changed. Immutable.
 *
 * @param version the identity of the commit whose version was read: no version up to this one names
 *     any of the files
 * @param before the shard as it was read
 * @param base the shard as the patch found it: {@code before}, or without values in its patch to
 *     which the new ones cannot be added, and which tables files have instead
 * @param patched the shard with a patch that has the changes, of any size; its length may be 0
 * @param rewritten the shard with changes in tables files, or without a patch, where the patch has
 *     become too large; null if it has not
 * @param deletedCount number of records that are deleted
 * @param fieldIds the fields in which records get values
 * @param files what was written for the change, relative to the table: files, and directories of
 *     shards
 */
public record ShardChange(
    UUID version,
    ShardSummary before,
    ShardSummary base,
    ShardSummary patched,
    @Nullable ShardSummary rewritten,
    long deletedCount,
    SortedSet<Integer> fieldIds,
    List<String> files)
    implements Serializable {

  public ShardChange {
    fieldIds = Collections.unmodifiableSortedSet(new TreeSet<>(fieldIds));
    files = List.copyOf(files);
  }

  /** Returns what takes the place of the shard if nobody else changes it: one shard, or none. */
  List<ShardSummary> after() {
    if (patched.length() == 0) {
      return List.of();
    }
    return List.of(rewritten == null ? patched : rewritten);
  }
}
