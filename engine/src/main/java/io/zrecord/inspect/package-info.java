/**
 * What stands in a dataset and how well its bytes are used: chunks, shards, fields, files and versions, in numbers. Start with {@link
 * io.zrecord.inspect.DatasetInspection}. Works from metadata and from the tables of entries; values are never read. Memory is bounded by
 * one shard's metadata, whatever the number of records and of shards. Results are immutable; exceptions are those of reading: damaged
 * metadata is a {@link io.zrecord.errors.CorruptDataException}.
 */
@NullMarked
package io.zrecord.inspect;

import org.jspecify.annotations.NullMarked;
