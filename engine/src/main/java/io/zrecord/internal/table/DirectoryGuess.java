package io.zrecord.internal.table;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.List;

/** Guesses what a directory that is no dataset is, for the message to whoever took it for one. */
public final class DirectoryGuess {
  private DirectoryGuess() {}

  /** What seems to be there, and what to do. */
  public static String of(Storage storage) {
    if (!storage.exists("")) {
      return "the path does not exist; check it for typos";
    }
    List<StoredFile> files = storage.list("");
    if (files.stream().anyMatch(file -> file.name().equals("meta.json"))) {
      return "it is a shard standing alone; open it with RecordDataset.open";
    }
    for (String format : List.of("parquet", "orc", "avro", "csv", "json")) {
      if (files.stream().anyMatch(file -> file.name().endsWith("." + format))) {
        return "it seems to hold " + format + " files; read it with format(\"" + format
            + "\"), or convert it";
      }
    }
    if (files.isEmpty()) {
      return "the directory is empty; write a dataset to it first";
    }
    return "the directory has no manifest/ but " + files.get(0).name()
        + " and the like; name the dataset's own directory";
  }
}
