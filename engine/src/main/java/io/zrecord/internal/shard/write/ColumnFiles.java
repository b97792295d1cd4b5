package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.shard.Checksum;
import io.zrecord.storage.Storage;

/**
 * Names the files of one field of a shard (FORMAT.md section 3).
 *
 * @param storage where the shard is
 * @param directory directory of the shard
 * @param stem first part of the names
 * @param checksum whether values have checksums
 * @param binding binds the checksums
 */
record ColumnFiles(
    Storage storage, String directory, String stem, Checksum checksum, Binding binding) {
  /** Returns the name of the file with a suffix such as {@code .offset}. */
  String name(String suffix) {
    return directory + "/" + stem + suffix;
  }

  boolean hasChecksums() {
    return checksum == Checksum.CRC32C;
  }
}
