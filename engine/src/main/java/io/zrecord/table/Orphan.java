package io.zrecord.table;

/**
 * A file that no version of a table names, or a shard's directory.
 *
 * @param name relative to the table
 * @param fileCount files in it; 1 if it is one
 * @param lengthBytes of all its files
 */
public record Orphan(String name, long fileCount, long lengthBytes) {}
