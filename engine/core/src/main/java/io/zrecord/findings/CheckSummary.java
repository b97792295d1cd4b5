package io.zrecord.findings;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import java.io.Serializable;

/**
 * The outcome of a check.
 *
 * @param damageCount findings that are damage
 * @param noteCount findings that are not damage
 * @param badValueCount unreadable values in findings of the kinds {@link Finding.Kind#ENTRY} and
 *     {@link Finding.Kind#VALUE}. Values lost with a whole file are not counted, such as all values
 *     of a shard with a damaged meta file or of a field with a damaged file of runs. So 0 does not
 *     mean that every value can be read
 * @param recordCount records of the checked versions; a shard in several versions counts once
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

  /** Returns the sum of this outcome and the outcome of a check of other data. */
  public CheckSummary plus(CheckSummary other) {
    return new CheckSummary(
        damageCount + other.damageCount,
        noteCount + other.noteCount,
        badValueCount + other.badValueCount,
        recordCount + other.recordCount,
        valueCount + other.valueCount,
        bytes + other.bytes);
  }

  /** Returns the outcome as a JSON object on one line. */
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

  /** Tells whether there is no damage. */
  public boolean isSound() {
    return damageCount == 0;
  }
}
