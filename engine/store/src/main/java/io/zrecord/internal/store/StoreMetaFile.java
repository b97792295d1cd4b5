package io.zrecord.internal.store;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.MutableFiles;

/** Reads and checks the meta file of a store. Stateless. */
public final class StoreMetaFile {
  private StoreMetaFile() {}

  /**
   * Reads and checks the meta file.
   *
   * @throws io.zrecord.errors.MissingFileException if there is none
   * @throws io.zrecord.errors.CorruptDataException if the file is not what a store writes
   */
  public static StoreMeta read(MutableFiles files) {
    return StoreMeta.read(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }

  /**
   * Requires a store that this release can change.
   *
   * @throws NotADatasetException if the directory is a table by now
   * @throws io.zrecord.errors.ZRecordException if the meta file cannot be read, or the store uses
   *     an unknown feature
   */
  public static void requireStore(MutableFiles files) {
    if (ManifestNames.includeVersion(files.list(ManifestNames.DIRECTORY))) {
      throw new NotADatasetException(
          files.location(),
          "Cannot open " + files.location()
              + " as a store: it is a table now. Read it as a RecordDataset; to change single records, make a new store of it");
    }
    read(files);
    requireWritable(files);
  }

  /**
   * Requires a store that has not become a table before its writer was known. The writer of a table
   * goes: nobody opens the table as a store.
   *
   * @throws NotADatasetException if the directory is a table by now
   */
  public static void requireStillStore(MutableFiles files, WriterToken writer) {
    try {
      requireStore(files);
    } catch (NotADatasetException e) {
      writer.release();
      throw e;
    }
  }

  /**
   * Requires that this release knows what the store needs of programs that change it.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the store uses an unknown feature
   */
  public static void requireWritable(MutableFiles files) {
    ShardMeta.requireWritable(
        files.pathOf(ShardMeta.FILE_NAME), files.read(ShardMeta.FILE_NAME, SealedJson.MAX_BYTES));
  }
}
