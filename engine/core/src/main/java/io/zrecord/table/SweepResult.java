package io.zrecord.table;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;

/**
 * The result of a sweep.
 *
 * @param mode whether the orphans are deleted, or would be
 * @param fileCount files of orphans that are old enough
 * @param lengthBytes bytes of these files
 * @param youngFileCount files that no version names, but that a write may still commit
 * @param youngBytes bytes of the young files
 */
public record SweepResult(
    CareMode mode, long fileCount, long lengthBytes, long youngFileCount, long youngBytes) {

  /** Returns the result as one line of JSON. */
  public String toJson() {
    return JsonNodeFactory.instance
        .objectNode()
        .put("dryRun", mode == CareMode.DRY_RUN)
        .put("files", fileCount)
        .put("bytes", lengthBytes)
        .put("youngFiles", youngFileCount)
        .put("youngBytes", youngBytes)
        .toString();
  }
}
