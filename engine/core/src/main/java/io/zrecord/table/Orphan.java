package io.zrecord.table;

/**
 * A file that no version of a table names, or a whole directory of a shard.
 *
 * @param name relative to the table
 * @param fileCount number of files; 1 for a file
 * @param lengthBytes bytes of all its files
 */
public record Orphan(String name, long fileCount, long lengthBytes) {}
