package io.zrecord.table;

import java.util.Optional;

/**
 * The result of a drop.
 *
 * @param mode whether the table was dropped, or would be
 * @param versionCount versions that could be read; 0 if the table was dropped before
 * @param fileCount files that these versions name, without manifests
 * @param swept what a sweep of other files has deleted; empty if there was no sweep
 */
public record DropResult(
    CareMode mode, int versionCount, long fileCount, Optional<SweepResult> swept) {}
