package io.zrecord.verify;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.Serializable;

/**
 * The outcome of a check.
 *
 * @param damageCount findings that are damage
 * @param noteCount findings that are not
 * @param badValueCount values that cannot be read, of findings of the kinds {@link Finding.Kind#ENTRY} and {@link Finding.Kind#VALUE};
 *     what a lost file takes with it, such as all values of a shard whose meta file is damaged or of a field whose file of runs is, is
 *     not counted, so that 0 does not mean that all can be read
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
    long bytes)
    implements Serializable {

  /** The outcome of this check and of one of other data together. */
  public CheckSummary plus(CheckSummary other) {
    return new CheckSummary(
        damageCount + other.damageCount,
        noteCount + other.noteCount,
        badValueCount + other.badValueCount,
        recordCount + other.recordCount,
        valueCount + other.valueCount,
        bytes + other.bytes);
  }

  /** The outcome as a JSON object on one line. */
  public String toJson() {
    return JsonNodeFactory.instance
        .objectNode()
        .put("sound", isSound())
        .put("damage", damageCount)
        .put("notes", noteCount)
        .put("badValues", badValueCount)
        .put("records", recordCount)
        .put("values", valueCount)
        .put("bytes", bytes)
        .toString();
  }

  /** Whether there is no damage. */
  public boolean isSound() {
    return damageCount == 0;
  }
}
