package io.zrecord.internal.shard.layout;

import io.zrecord.internal.format.RankedBitmap;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The slots of a shard that the commit of a patch changed (FORMAT.md section 3.3). A commit that
 * names another tables file for a field changed the field in all slots, which is not said here.
 * Immutable.
 *
 * @param before the patch that the shard had before; empty if there was none
 * @param deleted the slots that the commit deleted; null if none
 * @param fields the slots to which the commit gave values, absent ones included, by field id
 */
public record SlotsOfCommit(
    Optional<UUID> before,
    @Nullable RankedBitmap deleted,
    SortedMap<Integer, RankedBitmap> fields) {

  public SlotsOfCommit {
    fields = Collections.unmodifiableSortedMap(new TreeMap<>(fields));
  }
}
