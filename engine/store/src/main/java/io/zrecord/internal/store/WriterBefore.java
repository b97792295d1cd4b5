package io.zrecord.internal.store;

/** Says what is known of the writer that had a store open before. */
public enum WriterBefore {
  /** It closed the store. Everything is in the tables, and nothing of that writer can follow. */
  CLOSED,

  /**
   * It left the store outside a change of the tables. It was killed, or it has lost its lock and
   * may still write to its chunks and to the journal.
   */
  LEFT,

  /** It left the store, and may be changing the tables. */
  LEFT_INSIDE;

  /** Tells whether it may still write to files that it has open. */
  public boolean mayWrite() {
    return this != CLOSED;
  }
}
