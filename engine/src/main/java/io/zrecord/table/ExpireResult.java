package io.zrecord.table;

import java.util.List;

/**
 * The result of an expiry.
 *
 * @param mode whether the versions are deleted, or would be
 * @param expired numbers of the expired versions, oldest first
 * @param taggedCount versions that were old enough, but have a tag
 * @param keptCount versions that are left, tagged ones included
 */
public record ExpireResult(CareMode mode, List<Long> expired, int taggedCount, int keptCount) {
  public ExpireResult {
    expired = List.copyOf(expired);
  }
}
