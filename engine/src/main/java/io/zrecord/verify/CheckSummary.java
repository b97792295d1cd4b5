package io.zrecord.verify;

/**
 * The outcome of a check.
 *
 * @param damageCount findings that are damage
 * @param noteCount findings that are not
 * @param badValueCount values that cannot be read
 * @param recordCount records of the versions checked, those of a shard in several versions once
 * @param valueCount values checked, absent ones included
 * @param bytes stored bytes of the values checked
 */
public record CheckSummary(
    long damageCount,
    long noteCount,
    long badValueCount,
    long recordCount,
    long valueCount,
    long bytes) {

  /** Whether there is no damage. */
  public boolean isSound() {
    return damageCount == 0;
  }
}
