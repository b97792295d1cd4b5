package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchJson;
import io.zrecord.internal.format.PatchSince;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Writes the file of a patch (FORMAT.md section 3.3), once. Belongs to one thread. */
final class PatchFileWriter {
  private static final byte[] NO_BYTES = {};

  private final Storage storage;
  private final ShardSummary shard;
  private final @Nullable PatchFile before;
  private final UUID fileId;
  private final Durability durability;
  private final ByteArrayOutputStream file = new ByteArrayOutputStream();
  private Optional<UUID> predecessor;

  /** What a patch has. The number of the chunk of a value is an index of {@link #chunks}. */
  static final class Content {
    /** The fields, by id. */
    final SortedMap<Integer, FieldSpec> specs = new TreeMap<>();

    /** The values of fields, by id, none of them empty. */
    final SortedMap<Integer, PatchValues> fields = new TreeMap<>();

    /** The slots to which the commit gave values, in rising order, by field id. */
    final SortedMap<Integer, long[]> changedByCommit = new TreeMap<>();

    /** The chunks that may be used. */
    final List<ChunkFile> chunks = new ArrayList<>();

    private final SlotCollector deleted;
    private final SlotCollector deletedByCommit;

    /**
     * Begins with deletions.
     *
     * @param deleted all slots that are deleted
     * @param deletedByCommit those that the commit deleted
     */
    Content(SlotCollector deleted, SlotCollector deletedByCommit) {
      this.deleted = deleted;
      this.deletedByCommit = deletedByCommit;
    }
  }

  /**
   * Prepares a file.
   *
   * @param shard the shard as it was before the commit
   * @param before the patch of the shard so far; null if there is none
   * @param fileId identity of the new patch
   */
  PatchFileWriter(
      Storage storage,
      ShardSummary shard,
      @Nullable PatchFile before,
      UUID fileId,
      Durability durability) {
    this.storage = storage;
    this.shard = shard;
    this.before = before;
    this.fileId = fileId;
    this.durability = durability;
    this.predecessor = Optional.ofNullable(before).map(patch -> patch.json().fileId());
  }

  /** Says which patch the commit of the new patch found; otherwise it is the patch so far. */
  PatchFileWriter following(Optional<UUID> found) {
    predecessor = found;
    return this;
  }

  /** Writes the file, and returns the shard with the patch. */
  ShardSummary write(Content content) {
    List<ChunkFile> chunks = used(content);
    file.writeBytes(new FileHeader(FileHeader.Kind.PATCH, shard.id(), fileId).encode());
    SlotSet deleted = slotSet(content.deleted, Kind.DELETED);
    List<PatchField> written = new ArrayList<>();
    content.fields.forEach(
        (id, values) -> written.add(field(Objects.requireNonNull(content.specs.get(id)), values)));
    PatchSince since = since(content);
    section(NO_BYTES);
    int position = file.size();
    byte[] sealed = PatchJson.of(
            shard.id(),
            fileId,
            shard.slots(),
            chunks,
            deleted,
            written,
            Optional.of(since),
            position)
        .write();
    file.writeBytes(sealed);
    file.writeBytes(new TablesTrailer(position, sealed.length).encode());
    write(file.toByteArray());
    PatchRef ref = new PatchRef(
        fileId,
        file.size(),
        position,
        sealed.length,
        SealedJson.checksum(fileId.toString(), sealed),
        shard.slots());
    List<ChunkFile> all = new ArrayList<>(shard.chunks());
    if (before != null) {
      all.removeAll(before.json().chunks());
    }
    all.addAll(chunks);
    return shard.patched(shard.slots() - content.deleted.count(), all, ref);
  }

  /** Returns the chunks that are used, and gives their ordinals to the values. */
  private static List<ChunkFile> used(Content content) {
    int[] ordinals = new int[content.chunks.size()];
    for (PatchValues values : content.fields.values()) {
      for (int i = 0; i < values.count(); i++) {
        if (!values.isAbsent(i)) {
          ordinals[values.chunk(i)] = 1;
        }
      }
    }
    List<ChunkFile> used = new ArrayList<>();
    for (int i = 0; i < ordinals.length; i++) {
      if (ordinals[i] == 1) {
        ordinals[i] = used.size();
        used.add(content.chunks.get(i));
      }
    }
    for (PatchValues values : content.fields.values()) {
      for (int i = 0; i < values.count(); i++) {
        if (!values.isAbsent(i)) {
          values.setChunk(i, ordinals[values.chunk(i)]);
        }
      }
    }
    return used;
  }

  private PatchField field(FieldSpec spec, PatchValues values) {
    Binding binding = new Binding(fileId, spec.id());
    return new PatchField(
        spec.id(),
        spec.type(),
        spec.shape(),
        values.compression,
        values.count(),
        values.absentCount(),
        values.bytes(),
        slotSet(values.slots(), Kind.CHANGED, spec.id()),
        section(values.entries(binding)),
        values.statistics.isEmpty()
            ? Section.NONE
            : section(statistics(values.statistics, binding)));
  }

  private PatchSince since(Content content) {
    if (predecessor.isEmpty()) {
      return PatchSince.BEGINNING;
    }
    SlotSet deleted = slotSet(content.deletedByCommit, Kind.DELETED_SINCE);
    SortedMap<Integer, SlotSet> fields = new TreeMap<>();
    for (Map.Entry<Integer, long[]> field : content.changedByCommit.entrySet()) {
      if (field.getValue().length > 0) {
        fields.put(field.getKey(), slotSet(field.getValue(), Kind.CHANGED_SINCE, field.getKey()));
      }
    }
    return new PatchSince(predecessor, deleted, fields);
  }

  private SlotSet slotSet(long[] slots, Kind kind, int fieldId) {
    return slots.length == 0 ? SlotSet.NONE : slotSet(RankedBitmap.encode(slots), kind, fieldId);
  }

  private SlotSet slotSet(SlotCollector slots, Kind kind) {
    return slots.count() == 0 ? SlotSet.NONE : slotSet(slots.encode(), kind, 0);
  }

  private SlotSet slotSet(byte[] bytes, Kind kind, int fieldId) {
    int sum = new Binding(fileId, fieldId).bind(kind, 0, Crc32c.of(bytes));
    return new SlotSet(section(bytes), sum);
  }

  private Section section(byte[] bytes) {
    while (file.size() % Section.ALIGNMENT != 0) {
      file.write(0);
    }
    Section section = new Section(file.size(), bytes.length);
    file.writeBytes(bytes);
    return section;
  }

  private static byte[] statistics(List<StatisticsRecord> records, Binding binding) {
    ByteArrayOutputStream section = new ByteArrayOutputStream();
    for (int i = 0; i < records.size(); i++) {
      section.writeBytes(records.get(i).encode(binding, i));
    }
    return section.toByteArray();
  }

  private void write(byte[] bytes) {
    try (WritableFile target = storage.create(shard.directory() + "/" + fileId + ".patch")) {
      target.write(ByteBuffer.wrap(bytes));
      if (durability == Durability.COMMIT) {
        target.force();
      }
      target.finish();
    }
    if (durability == Durability.COMMIT) {
      storage.forceDirectory(shard.directory());
    }
  }
}
