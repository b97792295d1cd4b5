package io.zrecord.spark.changes;

import io.zrecord.storage.Storage;
import java.io.Serializable;
import java.util.List;

/** Changes that a task reads. Immutable. */
interface ChangePart extends Serializable {
  /** Returns the records to read. May read which records of a shard changed, and no value. */
  List<ChangeSegment> segments(Storage storage);
}
