package io.zrecord.internal.shard.file;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.Origins;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesSince;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.LongConsumer;

/**
 * A tables file open for reading (FORMAT.md section 3). The manifest says where the JSON is, so the
 * window that contains the JSON is the first that is read; of a small shard, it contains the tables
 * as well. Tables are read in place. Thread-safe.
 */
public final class TablesFile {
  /** Ordinal of a chunk that no field needs any more. */
  public static final int NO_CHUNK = -1;

  /** A million runs. */
  private static final long MOST_RUNS_BYTES = 64L << 20;

  private final Windows windows;
  private final TablesJson json;
  private final int[] shardChunks;

  private TablesFile(Windows windows, TablesJson json, int[] shardChunks) {
    this.windows = windows;
    this.json = json;
    this.shardChunks = shardChunks;
  }

  /**
   * Opens a tables file and reads its JSON.
   *
   * @param ref one of the shard's tables files
   * @param onKept called for each window that is kept, with its bytes on the heap: 0 if mapped
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.TruncatedFileException if the file is shorter than the manifest says
   * @throws CorruptDataException if the JSON is damaged, or the file is not what the manifest says
   */
  public static TablesFile open(
      Storage storage, ShardSummary shard, TablesRef ref, LongConsumer onKept) {
    ReadableFile file = ShardFiles.open(storage, shard.fileOf(ref), ref.bytes());
    Windows windows = new Windows(file, ref.bytes(), onKept);
    String path = windows.path();
    if (file.lengthBytes() > ref.bytes()) {
      throw corrupt(
          path, "it has " + file.lengthBytes() + " bytes, but the dataset says " + ref.bytes());
    }
    byte[] bytes = new byte[ref.jsonBytes()];
    windows.copy(ref.jsonPosition(), bytes, 0, bytes.length);
    TablesJson json = readJson(path, bytes, shard, ref);
    return new TablesFile(windows, json, shardChunks(path, json, shard, ref));
  }

  /**
   * Reads the JSON of a tables file, and compares it with the manifest.
   *
   * @param path the file, for messages
   * @throws CorruptDataException if the JSON is damaged, or not what the manifest says
   */
  public static TablesJson readJson(String path, byte[] bytes, ShardSummary shard, TablesRef ref) {
    int seal = SealedJson.checksum(path, bytes);
    if (seal != ref.jsonChecksum()) {
      throw corrupt(
          path,
          "the checksum of its JSON is " + HexFormat.of().toHexDigits(seal)
              + ", but the dataset says " + HexFormat.of().toHexDigits(ref.jsonChecksum()));
    }
    TablesJson json = TablesJson.read(path, bytes, ref.jsonPosition());
    requireIs(path, json, shard, ref);
    return json;
  }

  /**
   * Returns the ordinal in the shard of each chunk that a tables file uses; {@link #NO_CHUNK} for a
   * chunk that the shard does not name.
   *
   * @throws CorruptDataException if the shard does not name a chunk, although it has all fields of
   *     the file
   */
  public static int[] shardChunks(String path, TablesJson json, ShardSummary shard, TablesRef ref) {
    boolean areAllNamed = ref.fieldIds().size() == json.fields().size();
    return shardChunks(path, json.chunks(), shard, areAllNamed);
  }

  public static int[] shardChunks(
      String path, List<ChunkFile> chunks, ShardSummary shard, boolean areAllNamed) {
    int[] shardChunks = new int[chunks.size()];
    // The usual case: the only tables file of a shard uses all its chunks.
    boolean isOnly = chunks.equals(shard.chunks());
    Map<ChunkFile, Integer> ordinals = new HashMap<>();
    for (int i = 0; i < shard.chunks().size() && !isOnly; i++) {
      ordinals.putIfAbsent(shard.chunks().get(i), i);
    }
    for (int i = 0; i < shardChunks.length; i++) {
      shardChunks[i] = isOnly ? i : ordinals.getOrDefault(chunks.get(i), NO_CHUNK);
      if (areAllNamed && shardChunks[i] == NO_CHUNK) {
        throw corrupt(path, "it uses " + chunks.get(i) + ", which the dataset does not name");
      }
    }
    return shardChunks;
  }

  /**
   * Requires that this release knows what a shard needs of programs that change or delete files.
   * Files that are missing are passed over.
   *
   * @throws io.zrecord.errors.UnsupportedFormatException if the shard or a field uses an unknown
   *     feature
   */
  public static void requireWritable(Storage storage, ShardSummary shard) {
    for (TablesRef ref : shard.tables()) {
      requireWritable(storage, shard.fileOf(ref), ref.bytes(), ref.jsonPosition(), ref.jsonBytes());
    }
    PatchRef patch = shard.patch();
    if (patch != null) {
      requireWritable(
          storage, shard.fileOf(patch), patch.bytes(), patch.jsonPosition(), patch.jsonBytes());
    }
  }

  private static void requireWritable(
      Storage storage, String name, long fileBytes, long jsonPosition, int jsonBytes) {
    byte[] json = new byte[jsonBytes];
    try (ReadableFile file = storage.open(name, fileBytes)) {
      new Windows(file, fileBytes, bytes -> {}).read(jsonPosition, jsonBytes).get(json);
    } catch (MissingFileException e) {
      return;
    }
    TablesJson.requireWritable(storage.pathOf(name), json);
  }

  private static void requireIs(String path, TablesJson json, ShardSummary shard, TablesRef ref) {
    if (!json.shardId().equals(shard.id())
        || !json.fileId().equals(ref.id())
        || json.length() != shard.slots()) {
      throw corrupt(
          path,
          "it is file " + json.fileId() + " of shard " + json.shardId() + " with " + json.length()
              + " records, but the dataset says file " + ref.id() + " of shard " + shard.id()
              + " with " + shard.slots());
    }
    if (!json.fieldIds().containsAll(ref.fieldIds())) {
      throw corrupt(
          path,
          "it has the fields " + json.fieldIds() + ", but the dataset says " + ref.fieldIds());
    }
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

  /**
   * Returns the ordinal in the shard of a chunk of this file.
   *
   * @throws CorruptDataException if the shard does not name the chunk
   */
  public int shardChunk(int ordinal) {
    if (shardChunks[ordinal] == NO_CHUNK) {
      throw corrupt(
          path(), "it uses " + json.chunks().get(ordinal) + ", which the dataset does not name");
    }
    return shardChunks[ordinal];
  }

  /** Returns the ordinals in the shard of the chunks of this file. */
  public int[] shardChunks() {
    return shardChunks;
  }

  /** Reads the runs of a field. */
  public List<RunRecord> runs(FieldTables field, int widthBytes, Binding binding) {
    if (field.runs().bytes() > MOST_RUNS_BYTES) {
      throw corrupt(
          path(),
          "its list of runs of field " + field.id() + " has " + field.runs().bytes()
              + " bytes, more than this release reads");
    }
    byte[] section = new byte[(int) field.runs().bytes()];
    windows.copy(field.runs().position(), section, 0, section.length);
    return RunRecord.read(path(), section, json, field, widthBytes, binding);
  }

  /** Reads the runs of a field as the file has it. */
  public List<RunRecord> runs(FieldTables field) {
    FieldSpec spec =
        new FieldSpec(field.id(), "field", field.type(), field.shape(), field.compression());
    Binding binding = new Binding(json.shardId(), field.id());
    return runs(field, spec.valueWidthBytes().orElse(-1), binding);
  }

  /**
   * Returns the slots to which the commit of the file gave values of a field, in rising order;
   * empty if to all.
   *
   * @throws CorruptDataException if what the file says is damaged
   */
  public Optional<long[]> changedByCommit(int fieldId) {
    SlotSet set = json.since().fields().get(fieldId);
    if (set == null) {
      return Optional.empty();
    }
    if (!set.isPresent()) {
      return Optional.of(new long[0]);
    }
    Binding binding = new Binding(json.fileId(), fieldId);
    return Optional.of(
        TablesSince.decode(path(), section(set), set, binding, json.length()).slots());
  }

  /**
   * Returns where records of the shard were before the commit of the file.
   *
   * @throws CorruptDataException if what the file says is damaged
   */
  public Origins origins() {
    return json.since()
        .origins()
        .map(ref -> ref.decode(
            path(), json.fileId(), section(ref.slots()), section(ref.places()), json.length()))
        .orElse(Origins.NONE);
  }

  private byte[] section(SlotSet set) {
    byte[] section = new byte[set.sectionBytes(path())];
    windows.copy(set.section().position(), section, 0, section.length);
    return section;
  }

  /** Returns the identities of the chunks that some fields need; all if entries name them. */
  public Set<UUID> usedChunks(List<Integer> fieldIds) {
    Set<UUID> used = new HashSet<>();
    for (int id : fieldIds) {
      for (RunRecord run : runs(json.field(id))) {
        if (run.kind() == RunRecord.Kind.ENTRY) {
          json.chunks().forEach(chunk -> used.add(chunk.id()));
        } else {
          used.add(json.chunks().get(run.chunk()).id());
        }
      }
    }
    return used;
  }

  private static CorruptDataException corrupt(String path, String reason) {
    return new CorruptDataException(
        path, "Cannot read " + path + ": " + reason + ". Restore it from a copy");
  }
}
