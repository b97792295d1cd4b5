package io.zrecord.internal.shard;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * A tables file open for reading (FORMAT.md section 3). The manifest says where the JSON is, so the
 * window that contains the JSON is the first that is read; of a small shard, it contains the tables
 * as well. Tables are read in place. Thread-safe.
 */
public final class TablesFile {
  private final Windows windows;
  private final TablesJson json;

  private TablesFile(Windows windows, TablesJson json) {
    this.windows = windows;
    this.json = json;
  }

  /**
   * Opens a tables file and reads its JSON.
   *
   * @param directory of the shard, with a slash at the end
   * @param onMapped called for each new mapping
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.TruncatedFileException if the file is shorter than the manifest says
   * @throws CorruptDataException if the JSON is damaged, or the file is not what the manifest says
   */
  public static TablesFile open(
      Storage storage, String directory, UUID shardId, TablesRef ref, Runnable onMapped) {
    ReadableFile file = storage.open(directory + ref.fileName());
    Windows windows = new Windows(file, ref.bytes(), onMapped);
    String path = windows.path();
    if (file.lengthBytes() > ref.bytes()) {
      throw corrupt(
          path,
          "it has " + file.lengthBytes() + " bytes, but the dataset says " + ref.bytes());
    }
    byte[] bytes = new byte[ref.jsonBytes()];
    windows.copy(ref.jsonPosition(), bytes, 0, bytes.length);
    int seal = SealedJson.checksum(path, bytes);
    if (seal != ref.jsonChecksum()) {
      throw corrupt(
          path,
          "the checksum of its JSON is " + HexFormat.of().toHexDigits(seal)
              + ", but the dataset says " + HexFormat.of().toHexDigits(ref.jsonChecksum()));
    }
    TablesJson json = TablesJson.read(path, bytes, ref.jsonPosition());
    if (!json.shardId().equals(shardId) || !json.fileId().equals(ref.id())) {
      throw corrupt(
          path,
          "it is file " + json.fileId() + " of shard " + json.shardId() + ", but the dataset says"
              + " file " + ref.id() + " of shard " + shardId);
    }
    if (!List.copyOf(json.fields().keySet()).equals(ref.fieldIds())) {
      throw corrupt(
          path,
          "it has the fields " + json.fields().keySet() + ", but the dataset says "
              + ref.fieldIds());
    }
    return new TablesFile(windows, json);
  }

  /** Returns the JSON. */
  public TablesJson json() {
    return json;
  }

  /** Returns the full path of the file. */
  public String path() {
    return windows.path();
  }

  /** Returns the bytes of the file. Positions of sections are positions in them. */
  public Windows windows() {
    return windows;
  }

  /** Reads the runs of a field. */
  public List<RunRecord> runs(FieldTables field, int widthBytes, Binding binding) {
    if (field.runs().bytes() > Integer.MAX_VALUE - Long.BYTES) {
      throw corrupt(
          path(), "its list of runs of field " + field.id() + " has " + field.runs().bytes()
              + " bytes, more than this release reads");
    }
    byte[] section = new byte[(int) field.runs().bytes()];
    windows.copy(field.runs().position(), section, 0, section.length);
    return RunRecord.read(path(), section, json, field, widthBytes, binding);
  }

  private static CorruptDataException corrupt(String path, String reason) {
    return new CorruptDataException(
        path, "Cannot read " + path + ": " + reason + ". Restore it from a copy");
  }
}
