package io.zrecord.spark.changes;

import io.zrecord.storage.Storage;
import java.util.List;

/**
 * Records that the driver has found.
 *
 * @param segments the records to read
 */
record PlannedPart(List<ChangeSegment> segments) implements ChangePart {
  PlannedPart {
    segments = List.copyOf(segments);
  }

  @Override
  public List<ChangeSegment> segments(Storage storage) {
    return segments;
  }
}
