package io.zrecord.table;

import java.time.Instant;

/**
 * A name of a version. Keeps the version from being expired.
 *
 * @param name unique in the table
 * @param version the version
 * @param created when the tag was made
 */
public record Tag(String name, long version, Instant created) {}
