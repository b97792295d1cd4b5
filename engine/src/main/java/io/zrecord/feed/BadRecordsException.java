package io.zrecord.feed;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;

/** Some records of a batch could not be transformed. */
final class BadRecordsException extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  private final transient Map<Integer, Exception> causes;

  /** @param causes by place in the batch as it is arranged */
  BadRecordsException(Map<Integer, Exception> causes, long[] indices, String dataset) {
    super(
        "Cannot transform " + causes.size() + " records of " + dataset + ": "
            + causes.entrySet().stream()
                .limit(5)
                .map(cause -> "index " + indices[cause.getKey()] + ": " + cause.getValue())
                .collect(Collectors.joining("; "))
            + ". Correct the transform or the records, or choose another policy for bad records",
        causes.values().iterator().next());
    this.causes = new LinkedHashMap<>(causes);
  }

  Map<Integer, Exception> causes() {
    return causes;
  }
}
