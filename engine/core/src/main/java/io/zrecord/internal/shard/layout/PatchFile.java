package io.zrecord.internal.shard.layout;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchJson;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.shard.fetch.Windows;
import io.zrecord.internal.shard.file.ShardFiles;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.Promotions;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A patch open for reading: the slots of a shard that were deleted, and the values that were
 * changed (FORMAT.md section 3.3). Read whole, and each section is checked before it is used.
 * Thread-safe.
 */
public final class PatchFile {
  private final String path;
  private final byte[] bytes;
  private final PatchJson json;
  private final int[] shardChunks;
  private final boolean isMapped;
  private final @Nullable RankedBitmap deleted;
  private final Map<Integer, ChangedField> fields = new ConcurrentHashMap<>();

  /**
   * Creates an open patch.
   *
   * @param live number of records that the patch leaves
   * @param isMapped whether the files with the values are mapped
   */
  private PatchFile(
      String path, byte[] bytes, PatchJson json, int[] shardChunks, long live, boolean isMapped) {
    this.path = path;
    this.bytes = bytes;
    this.json = json;
    this.shardChunks = shardChunks;
    this.isMapped = isMapped;
    this.deleted = json.deleted().isPresent() ? slots(json.deleted(), Kind.DELETED, 0) : null;
    requireLive(path, json, deleted, live);
  }

  static void requireLive(String path, PatchJson json, @Nullable RankedBitmap deleted, long live) {
    long count = deleted == null ? 0 : deleted.count();
    if (count != json.slots() - live) {
      throw corrupt(
          path,
          "it deletes " + count + " of " + json.slots() + " records, but the dataset says that "
              + live + " are left");
    }
  }

  /**
   * Opens the patch of a shard.
   *
   * @throws io.zrecord.errors.MissingFileException if there is no file
   * @throws io.zrecord.errors.TruncatedFileException if the file is shorter than the manifest says
   * @throws CorruptDataException if the file is damaged, or not what the manifest says
   * @throws io.zrecord.errors.UnsupportedFormatException if the patch uses an unknown feature
   */
  public static PatchFile open(Storage storage, ShardSummary shard, PatchRef ref) {
    byte[] bytes = new byte[Math.toIntExact(ref.bytes())];
    try (ReadableFile file = ShardFiles.open(storage, shard.fileOf(ref), ref.bytes())) {
      new Windows(file, ref.bytes(), kept -> {}).copy(0, bytes, 0, bytes.length);
      requireLength(file, ref);
      return open(file.path(), bytes, shard, ref, file.isMapped());
    }
  }

  static void requireLength(ReadableFile file, PatchRef ref) {
    if (file.lengthBytes() > ref.bytes()) {
      throw corrupt(
          file.path(),
          "it has " + file.lengthBytes() + " bytes, but the dataset says " + ref.bytes());
    }
  }

  /** Opens the bytes of a patch, whose values are in files that are mapped. */
  public static PatchFile open(String path, byte[] bytes, ShardSummary shard, PatchRef ref) {
    return open(path, bytes, shard, ref, true);
  }

  private static PatchFile open(
      String path, byte[] bytes, ShardSummary shard, PatchRef ref, boolean isMapped) {
    int position = Math.toIntExact(ref.jsonPosition());
    PatchJson json = json(
        path,
        Arrays.copyOf(bytes, FileHeader.BYTES),
        Arrays.copyOfRange(bytes, position, position + ref.jsonBytes()),
        shard,
        ref);
    int[] shardChunks = TablesFile.shardChunks(path, json.chunks(), shard, true);
    return new PatchFile(path, bytes, json, shardChunks, shard.length(), isMapped);
  }

  /** Reads the JSON of a patch. Requires that it and the header are what the manifest says. */
  static PatchJson json(
      String path, byte[] header, byte[] sealed, ShardSummary shard, PatchRef ref) {
    new FileHeader(FileHeader.Kind.PATCH, shard.id(), ref.id()).check(path, header);
    int seal = SealedJson.checksum(path, sealed);
    if (seal != ref.jsonChecksum()) {
      throw corrupt(
          path,
          "the checksum of its JSON is " + HexFormat.of().toHexDigits(seal)
              + ", but the dataset says " + HexFormat.of().toHexDigits(ref.jsonChecksum()));
    }
    PatchJson json = PatchJson.read(path, sealed, ref.jsonPosition());
    if (!json.shardId().equals(shard.id())
        || !json.fileId().equals(ref.id())
        || json.slots() != ref.slots()) {
      throw corrupt(
          path,
          "it is file " + json.fileId() + " of shard " + json.shardId() + " with " + json.slots()
              + " slots, but the dataset says file " + ref.id() + " of shard " + shard.id()
              + " with " + ref.slots());
    }
    return json;
  }

  /** Returns the JSON. */
  public PatchJson json() {
    return json;
  }

  /** Returns the full path of the file. */
  public String path() {
    return path;
  }

  /** Returns the slots that were deleted; null if none was. */
  public @Nullable RankedBitmap deleted() {
    return deleted;
  }

  /**
   * Returns the changed values of a field; null if no value of the field was changed.
   *
   * @throws CorruptDataException if what the patch says of the field is damaged
   */
  public @Nullable ChangedField changed(FieldSpec spec) {
    if (!json.hasField(spec.id())) {
      return null;
    }
    PatchField stored = json.field(spec.id());
    if (!stored.shape().equals(spec.shape())) {
      throw corrupt("field " + spec.id() + " has the shape " + stored.shape()
          + " here, but the dataset says " + spec.shape());
    }
    ChangedField field = changed(stored);
    if (!Promotions.allows(field.type(), spec.type())) {
      throw corrupt("field " + spec.id() + " is " + field.type() + " here, but the dataset says "
          + spec.type());
    }
    return field;
  }

  /** Opens the changed values of a field as the patch says, without a comparison. */
  public ChangedField changed(PatchField field) {
    return fields.computeIfAbsent(field.id(), id -> opened(field));
  }

  private ChangedField opened(PatchField field) {
    RankedBitmap slots = slots(field.slots(), Kind.CHANGED, field.id());
    if (slots.count() != field.count()) {
      throw corrupt("field " + field.id() + " has " + slots.count() + " changed slots, but "
          + field.count() + " values");
    }
    Binding binding = new Binding(json.fileId(), field.id());
    EntryField values = EntryField.ofPatch(
        new Windows(new Content(), bytes.length, kept -> {}),
        field,
        binding,
        json.chunks(),
        shardChunks);
    for (long unit = 0; unit < EntryUnits.unitCount(field.count()); unit++) {
      int at = (int) values.unitAt(unit);
      int length = values.unitBytes(unit);
      int found = binding.bind(Kind.OFFSETS, unit, Crc32c.of(bytes, at, length));
      if (found != values.tables().intAt(at + length)) {
        throw corrupt("the checksum of the entries of field " + field.id() + " is wrong");
      }
      values.setUnitVerified(unit);
    }
    return ChangedField.of(slots, values, field.type());
  }

  /**
   * Returns what the changed values of a field are, for each container of their slots; empty if the
   * patch does not say.
   *
   * @throws CorruptDataException if what the patch says is damaged
   */
  public List<StatisticsRecord> statistics(int fieldId, RankedBitmap slots) {
    Section section = json.field(fieldId).statistics();
    int count = section.isPresent() ? slots.containerCount() : 0;
    if (section.bytes() != (long) count * StatisticsRecord.BYTES) {
      throw corrupt("field " + fieldId + " has " + section.bytes() + " bytes of statistics for "
          + count + " containers of slots");
    }
    int at = (int) section.position();
    byte[] stored = Arrays.copyOfRange(bytes, at, at + (int) section.bytes());
    Binding binding = new Binding(json.fileId(), fieldId);
    List<StatisticsRecord> records = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      try {
        records.add(StatisticsRecord.decode(stored, i, slots.containerSlots(i), binding));
      } catch (IllegalArgumentException e) {
        throw corrupt("the statistics of field " + fieldId + " are wrong: " + e.getMessage());
      }
    }
    return records;
  }

  /**
   * Returns the slots that the commit of this patch changed; empty if the patch does not say.
   *
   * @throws CorruptDataException if what the patch says is damaged, or is not in the patch
   */
  public Optional<SlotsOfCommit> slotsOfCommit() {
    return json.since().map(since -> {
      SortedMap<Integer, RankedBitmap> changed = new TreeMap<>();
      if (since.patch().isEmpty()) {
        json.fields().keySet().forEach(id -> changed.put(id, slotsOf(id)));
        return new SlotsOfCommit(Optional.empty(), deleted, changed);
      }
      RankedBitmap gone =
          since.deleted().isPresent() ? slots(since.deleted(), Kind.DELETED_SINCE, 0) : null;
      requireAmong(path, gone, deleted);
      since.fields().forEach((id, set) -> {
        RankedBitmap slots = slots(set, Kind.CHANGED_SINCE, id);
        requireAmong(path, slots, json.hasField(id) ? slotsOf(id) : null);
        changed.put(id, slots);
      });
      return new SlotsOfCommit(since.patch(), gone, changed);
    });
  }

  private RankedBitmap slotsOf(int fieldId) {
    return changed(json.field(fieldId)).slots();
  }

  static void requireAmong(String path, @Nullable RankedBitmap some, @Nullable RankedBitmap all) {
    if (some != null && some.slotsIf(slot -> all == null || !all.contains(slot)).length > 0) {
      throw corrupt(path, "it says that its commit changed slots that it does not change");
    }
  }

  private RankedBitmap slots(SlotSet set, Kind kind, int fieldId) {
    int at = (int) set.section().position();
    return slots(path, json, set, new Binding(json.fileId(), fieldId), kind, bytes, at);
  }

  /**
   * Reads a set of slots.
   *
   * @param bytes has the section of the set at {@code at}
   */
  static RankedBitmap slots(
      String path, PatchJson json, SlotSet set, Binding binding, Kind kind, byte[] bytes, int at) {
    int length = (int) set.section().bytes();
    long position = set.section().position();
    if (binding.bind(kind, 0, Crc32c.of(bytes, at, length)) != set.checksum()) {
      throw corrupt(path, "the checksum of its slots at " + position + " is wrong");
    }
    ByteBuffer encoded = ByteBuffer.wrap(bytes, at, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    RankedBitmap slots = RankedBitmap.decode(encoded, json.slots());
    if (slots == null) {
      throw corrupt(path, "its slots at " + position + " are not a set of slots of the shard");
    }
    return slots;
  }

  private CorruptDataException corrupt(String reason) {
    return corrupt(path, reason);
  }

  private static CorruptDataException corrupt(String path, String reason) {
    return new CorruptDataException(
        path, "Cannot read " + path + ": " + reason + ". Restore it from a copy");
  }

  /** The bytes that were read, as a file. */
  private final class Content implements ReadableFile {
    @Override
    public String path() {
      return path;
    }

    @Override
    public long lengthBytes() {
      return bytes.length;
    }

    @Override
    public ByteBuffer region(long position, int lengthBytes) {
      return ByteBuffer.wrap(bytes, (int) position, lengthBytes)
          .slice()
          .asReadOnlyBuffer()
          .order(ByteOrder.LITTLE_ENDIAN);
    }

    /** Tells whether the chunks are: the values of this file are in them. */
    @Override
    public boolean isMapped() {
      return isMapped;
    }

    @Override
    public void close() {}
  }
}
