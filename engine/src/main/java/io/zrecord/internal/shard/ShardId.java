package io.zrecord.internal.shard;

/**
 * The identity of an open shard: its place, and the checksum of the meta file, which contains the
 * shard's uuid.
 *
 * @param location of the storage
 * @param directory of the shard in the storage; empty for the root
 * @param metaFile name of the meta file
 * @param metaChecksum the {@code crc32c} member of the meta file
 */
public record ShardId(String location, String directory, String metaFile, int metaChecksum) {}
