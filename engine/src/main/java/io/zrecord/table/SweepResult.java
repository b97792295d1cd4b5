package io.zrecord.table;

/**
 * What a sweep found.
 *
 * @param mode whether the orphans are gone, or would be
 * @param fileCount files of orphans that are old enough
 * @param lengthBytes of these
 * @param youngFileCount files that no version names, but that a write may still commit
 * @param youngBytes of these
 */
public record SweepResult(
    CareMode mode, long fileCount, long lengthBytes, long youngFileCount, long youngBytes) {}
