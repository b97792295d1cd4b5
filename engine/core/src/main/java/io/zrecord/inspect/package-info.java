/**
 * Statistics of a dataset's content and of how well its bytes are used: chunks, shards, fields,
 * files and versions. Works from metadata and from the tables of entries; values are never read.
 * Memory is bounded by one shard's metadata, whatever the number of records and shards. Results are
 * immutable. Exceptions are those of reading: damaged metadata is a
 * {@link io.zrecord.errors.CorruptDataException}. Start with
 * {@link io.zrecord.inspect.DatasetInspection}.
 */
@NullMarked
package io.zrecord.inspect;

import org.jspecify.annotations.NullMarked;
