package io.zrecord.table;

import java.util.List;

/**
 * The result of an expiry.
 *
 * @param mode whether the versions are deleted, or would be
 * @param expired numbers of the versions that this run expired, oldest first
 * @param taggedCount versions between them that have a tag, and can still be read
 * @param keptCount versions that are left, tagged ones included, without the version that the
 *     expiry itself made
 */
public record ExpireResult(CareMode mode, List<Long> expired, int taggedCount, int keptCount) {
  public ExpireResult {
    expired = List.copyOf(expired);
  }
}
