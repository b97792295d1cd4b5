package io.zrecord.table;

import java.util.List;

/**
 * What was expired.
 *
 * @param mode whether the versions are gone, or would be
 * @param expired their numbers, oldest first
 * @param taggedCount versions that were old enough, but have a tag
 * @param keptCount versions that are left, those with a tag included
 */
public record ExpireResult(CareMode mode, List<Long> expired, int taggedCount, int keptCount) {
  public ExpireResult {
    expired = List.copyOf(expired);
  }
}
