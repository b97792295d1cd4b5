package io.zrecord.table;

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
    CareMode mode, long fileCount, long lengthBytes, long youngFileCount, long youngBytes) {}
