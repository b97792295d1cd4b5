package io.zrecord.internal.table;

/**
 * A manifest that was set aside to be deleted (FORMAT.md section 7).
 *
 * @param version its version
 * @param name name of the file, relative to the table; never used again
 */
public record ManifestAside(long version, String name) {}
