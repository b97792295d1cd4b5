package io.zrecord.feed;

import java.util.stream.Collectors;

/** Reports the records of a batch that could not be transformed or collated. */
final class BadRecordsException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final transient RecordFailures bad;

  BadRecordsException(RecordFailures bad, long[] indices, String dataset) {
    super(
        "Cannot deliver " + bad.byPosition().size() + " records of " + dataset + ": "
            + bad.byPosition().entrySet().stream()
                .limit(5)
                .map(entry -> "index " + indices[entry.getKey()] + ", "
                    + entry.getValue().field() + ": " + entry.getValue().cause())
                .collect(Collectors.joining("; "))
            + ". Correct the transform or the records, or choose another policy for bad records",
        bad.byPosition().values().iterator().next().cause());
    this.bad = bad;
  }

  RecordFailures bad() {
    return bad;
  }
}
