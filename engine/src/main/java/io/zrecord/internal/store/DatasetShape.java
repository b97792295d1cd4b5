package io.zrecord.internal.store;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** What stands in a directory (FORMAT.md section 1), and advice where it is not a dataset. */
public enum DatasetShape {
  /** Versions under {@code manifest}. */
  TABLE,
  /** One shard, standing alone. */
  SHARD,
  /** One shard that is written online. */
  STORE;

  /** Directories of other formats are searched this deep, for partitions such as {@code year=2026/month=1}. */
  private static final int SEARCH_DEPTH = 3;

  private static final Map<String, String> READERS = Map.of(
      "parquet", "Parquet files; read them with spark.read.parquet(path)",
      "orc", "ORC files; read them with spark.read.orc(path)",
      "avro", "Avro files; read them with spark.read.format(\"avro\").load(path)",
      "csv", "CSV files; read them with spark.read.csv(path)",
      "json", "JSON files; read them with spark.read.json(path)",
      "txt", "text files; read them with spark.read.text(path)",
      "arrow", "Arrow files; read them with PyArrow",
      "npy", "NumPy arrays; import them with the NumPy importer",
      "tfrecord", "TFRecord files; read them with the spark-tfrecord data source",
      "lance", "Lance files; read them with Lance");

  /**
   * Tells the shape of what is at the root of a storage.
   *
   * @throws NotADatasetException if it is none; the message says what it seems to be and what to do
   */
  public static DatasetShape of(Storage storage) {
    List<StoredFile> found = storage.list("");
    boolean hasManifests = has(found, ManifestNames.DIRECTORY, true);
    if (hasManifests && hasVersions(storage)) {
      return TABLE;
    }
    if (has(found, ShardMeta.FILE_NAME, false)) {
      return has(found, "journal", false) ? STORE : SHARD;
    }
    if (hasManifests) {
      return TABLE;
    }
    throw notADataset(
        storage.location(), found.isEmpty() ? emptiness(storage) : guess(storage, found));
  }

  /**
   * Refuses what is not a directory.
   *
   * @throws NotADatasetException if nothing or a file stands there
   */
  public static void requireDirectory(Path path) {
    if (!Files.exists(path)) {
      throw notADataset(path.toString(), "there is no such directory. Check the path");
    }
    if (!Files.isDirectory(path)) {
      throw notADataset(
          path.toString(),
          "it is a file, and a dataset is a directory. "
              + reader(path.toString())
                  .map(what -> "It seems to be one of " + what)
                  .orElse("Check the path"));
    }
  }

  private static boolean hasVersions(Storage storage) {
    return ManifestNames.includeVersion(
        storage.list(ManifestNames.DIRECTORY).stream().map(StoredFile::name).toList());
  }

  private static String emptiness(Storage storage) {
    return storage.exists("")
        ? "the directory is empty. Write a dataset there first, or check the path"
        : "there is no such directory. Check the path";
  }

  private static String guess(Storage storage, List<StoredFile> found) {
    if (has(found, "_delta_log", true)) {
      return "it is a Delta table; read it with spark.read.format(\"delta\").load(path)";
    }
    if (has(found, "shard", true)) {
      return "it has shards but no manifest: a first write has not been committed. Let it finish, or write again";
    }
    if (has(found, "chunk", true)) {
      return "it has chunks but no " + ShardMeta.FILE_NAME
          + ": a shard that was not finished, or whose meta file was lost. Write it again, or restore the file from a copy";
    }
    return otherFormat(storage, "", found, SEARCH_DEPTH)
        .map(what -> "it seems to contain " + what)
        .orElse("it has neither a directory 'manifest' nor a file '" + ShardMeta.FILE_NAME
            + "'. Check the path: a dataset may stand above or below it");
  }

  private static Optional<String> otherFormat(
      Storage storage, String directory, List<StoredFile> found, int depth) {
    for (StoredFile file : found) {
      Optional<String> what = file.isDirectory() ? Optional.empty() : reader(file.name());
      if (what.isPresent()) {
        return what;
      }
    }
    // One partition speaks for all.
    return depth == 0
        ? Optional.empty()
        : found.stream().filter(StoredFile::isDirectory).findFirst().flatMap(first -> {
          String below = directory.isEmpty() ? first.name() : directory + "/" + first.name();
          return otherFormat(storage, below, storage.list(below), depth - 1);
        });
  }

  private static Optional<String> reader(String fileName) {
    String name = fileName.toLowerCase(Locale.ROOT).replaceAll("\\.(gz|snappy|zst|bz2|lz4)$", "");
    return Optional.ofNullable(READERS.get(name.substring(name.lastIndexOf('.') + 1)));
  }

  private static boolean has(List<StoredFile> found, String name, boolean directory) {
    return found.stream().anyMatch(f -> f.name().equals(name) && f.isDirectory() == directory);
  }

  private static NotADatasetException notADataset(String path, String reason) {
    return new NotADatasetException(path, "Cannot open dataset " + path + ": " + reason);
  }
}
