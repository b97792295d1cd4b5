package io.zrecord.sharing;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.feed.BadBatch;
import io.zrecord.feed.BadRecord;

/**
 * Collects the bad records of the batches of a feed until the next message takes them. Names a
 * bounded number of them, and counts all. Belongs to one thread.
 *
 * <pre>{@code
 * {"count": 2, "records": [{"index": 7, "field": "image", "reason": "…"}, …],
 *  "dropped": {"batches": 1, "count": 3, "records": […]}}
 * }</pre>
 *
 * <p>The outer members are those of the batch that the message is of; {@code dropped} has those of
 * batches before it that were left out.
 */
final class BadRecordNotes {
  private static final int MAX_NAMED = 100;
  private static final int MAX_REASON_CHARACTERS = 500;
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final byte[] NONE = new byte[0];

  private ObjectNode own = part();
  private ObjectNode dropped = part();
  private long droppedBatches;
  private boolean isEmpty = true;

  private static ObjectNode part() {
    ObjectNode part = JSON.createObjectNode().put("count", 0L);
    part.putArray("records");
    return part;
  }

  void add(BadBatch batch) {
    isEmpty = false;
    ObjectNode part = batch.isDropped() ? dropped : own;
    droppedBatches += batch.isDropped() ? 1 : 0;
    part.put("count", part.get("count").longValue() + batch.records().size());
    ArrayNode named = (ArrayNode) part.get("records");
    for (BadRecord bad : batch.records()) {
      if (named.size() == MAX_NAMED) {
        break;
      }
      named
          .addObject()
          .put("index", bad.index())
          .put("field", bad.field())
          .put("reason", shortened(bad.reason()));
    }
  }

  private static String shortened(String reason) {
    return reason.length() <= MAX_REASON_CHARACTERS
        ? reason
        : reason.substring(0, MAX_REASON_CHARACTERS) + "…";
  }

  /** Returns what was collected as JSON, nothing if no record was bad, and begins anew. */
  byte[] take() {
    if (isEmpty) {
      return NONE;
    }
    own.set("dropped", dropped.put("batches", droppedBatches));
    try {
      return JSON.writeValueAsBytes(own);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    } finally {
      own = part();
      dropped = part();
      droppedBatches = 0;
      isEmpty = true;
    }
  }
}
