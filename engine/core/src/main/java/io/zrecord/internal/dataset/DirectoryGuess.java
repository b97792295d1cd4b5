package io.zrecord.internal.dataset;

import io.zrecord.errors.NotADatasetException;
import io.zrecord.internal.format.JournalRecord;
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

/**
 * Guesses what a directory holds that is not the dataset that was looked for, and advises what to
 * do. The guess names formats, and leaves to the caller how a program reads them. Stateless.
 */
public final class DirectoryGuess {
  /** Directories are searched this deep, for partitions such as {@code year=2026/month=1}. */
  private static final int SEARCH_DEPTH = 3;

  private static final Map<String, String> FORMATS = Map.of(
      "parquet", "Parquet files",
      "orc", "ORC files",
      "avro", "Avro files",
      "csv", "CSV files",
      "json", "JSON files",
      "txt", "text files",
      "arrow", "Arrow files",
      "npy", "NumPy arrays",
      "tfrecord", "TFRecord files",
      "lance", "Lance files");

  private DirectoryGuess() {}

  /**
   * Refuses a path that is not a directory.
   *
   * @throws NotADatasetException if there is nothing or a file
   */
  public static void requireDirectory(Path path) {
    if (!Files.exists(path)) {
      throw notADataset(path.toString(), "there is no such directory. Check the path");
    }
    if (!Files.isDirectory(path)) {
      String advice = format(path.toString())
          .map(format -> "It seems to be one of " + format + ": " + advice(format))
          .orElse("Check the path");
      throw notADataset(path.toString(), "it is a file, and a dataset is a directory. " + advice);
    }
  }

  /** Returns the exception for a storage whose root is not a dataset. */
  public static NotADatasetException notADataset(Storage storage) {
    return notADataset(storage.location(), of(storage));
  }

  private static NotADatasetException notADataset(String path, String reason) {
    return new NotADatasetException(path, "Cannot open dataset " + path + ": " + reason);
  }

  /** Guesses what the root of a storage without a table holds, and advises what to do. */
  public static String of(Storage storage) {
    List<StoredFile> found = storage.list("");
    if (found.isEmpty()) {
      return storage.exists("")
          ? "the directory is empty. Write a dataset there first, or check the path"
          : "there is no such directory. Check the path";
    }
    if (has(found, JournalRecord.FILE_NAME, false)) {
      return "it is a store, not a table. Open it as a store, or make a table of it";
    }
    if (has(found, "_delta_log", true)) {
      return "it is a Delta table: read it as such, and write its rows as a dataset";
    }
    if (has(found, "shard", true)) {
      return "it has shards but no manifest: a first write has not been committed. Let it finish, or write again";
    }
    if (has(found, "chunk", true)) {
      return "it has chunks but no " + ShardMeta.FILE_NAME
          + ": a store whose meta file was lost. Restore the file from a copy";
    }
    if (found.stream().anyMatch(file -> file.name().endsWith(".tables"))) {
      return "it is a shard of a table. Open the table, which is two directories above";
    }
    return otherFormat(storage, "", found, SEARCH_DEPTH)
        .map(format -> "it seems to contain " + format + ": " + advice(format))
        .orElse("it has neither a version in a directory '" + ManifestNames.DIRECTORY
            + "' nor a file '"
            + ShardMeta.FILE_NAME
            + "'. Check the path: a dataset may be above or below it");
  }

  private static String advice(String format) {
    return "read them as " + format + ", and write the records as a dataset";
  }

  private static Optional<String> otherFormat(
      Storage storage, String directory, List<StoredFile> found, int depth) {
    for (StoredFile file : found) {
      Optional<String> format = file.isDirectory() ? Optional.empty() : format(file.name());
      if (format.isPresent()) {
        return format;
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

  private static Optional<String> format(String fileName) {
    String name = fileName.toLowerCase(Locale.ROOT).replaceAll("\\.(gz|snappy|zst|bz2|lz4)$", "");
    return Optional.ofNullable(FORMATS.get(name.substring(name.lastIndexOf('.') + 1)));
  }

  private static boolean has(List<StoredFile> found, String name, boolean isDirectory) {
    return found.stream().anyMatch(f -> f.name().equals(name) && f.isDirectory() == isDirectory);
  }
}
