package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchJson;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.StatisticsCollector;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.internal.shard.layout.ChangedField;
import io.zrecord.internal.shard.layout.EntryField;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.schema.Compression;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Writes the next patch of a shard: what the patch before says, and the changes of one commit
 * (FORMAT.md section 3.3). New values go to one new chunk. Belongs to one thread.
 */
public final class PatchWriter {
  private static final int NEW_CHUNK = -1;
  private static final byte[] NO_BYTES = {};

  private final Storage storage;
  private final ShardSummary shard;
  private final @Nullable PatchFile before;
  private final Durability durability;
  private final UUID fileId;
  private final UUID chunkId;
  private final ByteArrayOutputStream file = new ByteArrayOutputStream();
  private @Nullable WritableFile chunk;
  private long chunkBytes;

  /** The changed values of a field, in the order of the slots. */
  private static final class Values {
    long[] slots = new long[16];
    long[] offsets = new long[16];
    int[] chunks = new int[16];
    int[] lengths = new int[16];
    /** CRC32Cs of the stored bytes, without a binding. */
    int[] sums = new int[16];

    int count;
    long bytes;
    long absent;

    /** What the values are, for each container of their slots; empty if that is not known. */
    List<StatisticsRecord> statistics = List.of();

    void add(long slot, long offset, int chunk, int length, int sum) {
      if (count == slots.length) {
        slots = Arrays.copyOf(slots, 2 * count);
        offsets = Arrays.copyOf(offsets, 2 * count);
        chunks = Arrays.copyOf(chunks, 2 * count);
        lengths = Arrays.copyOf(lengths, 2 * count);
        sums = Arrays.copyOf(sums, 2 * count);
      }
      slots[count] = slot;
      offsets[count] = offset;
      chunks[count] = chunk;
      lengths[count] = length;
      sums[count] = sum;
      count++;
      bytes += length;
      absent += offset == 0 ? 1 : 0;
    }
  }

  /**
   * Prepares a patch.
   *
   * @param before the patch of the shard so far; null if there is none
   * @param fileId identity of the new patch
   * @param chunkId identity of the chunk for new values
   */
  public PatchWriter(
      Storage storage,
      ShardSummary shard,
      @Nullable PatchFile before,
      UUID fileId,
      UUID chunkId,
      Durability durability) {
    this.storage = storage;
    this.shard = shard;
    this.before = before;
    this.fileId = fileId;
    this.chunkId = chunkId;
    this.durability = durability;
  }

  /**
   * Writes the chunk and the patch. After an exception both may be there in part.
   *
   * @param deleted slots to delete, in rising order, which no patch has deleted before
   * @param changes new values by field and slot; an absent value is null. The slots are not deleted
   * @return the shard with the patch; its length may be 0, and its patch larger than allowed
   */
  public ShardSummary write(
      long[] deleted, Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    long[] allDeleted = union(deleted);
    RankedBitmap dead = allDeleted.length == 0 ? null : RankedBitmap.of(allDeleted);
    SortedMap<Integer, FieldSpec> specs = specs(changes);
    SortedMap<Integer, Values> fields = new TreeMap<>();
    try {
      for (FieldSpec spec : specs.values()) {
        SortedMap<Long, byte @Nullable []> news = changes.getOrDefault(spec, new TreeMap<>());
        Values values = merged(spec, dead, news);
        if (values.count > 0) {
          fields.put(spec.id(), values);
        }
      }
    } finally {
      closeChunk();
    }
    List<ChunkFile> chunks = new ArrayList<>();
    renumber(fields, chunks);
    return seal(allDeleted, specs, fields, chunks);
  }

  private long[] union(long[] deleted) {
    RankedBitmap old = before == null ? null : before.deleted();
    if (old == null) {
      return deleted;
    }
    long[] all = Arrays.copyOf(old.slots(), Math.toIntExact(old.count() + deleted.length));
    System.arraycopy(deleted, 0, all, (int) old.count(), deleted.length);
    Arrays.sort(all);
    return all;
  }

  private SortedMap<Integer, FieldSpec> specs(
      Map<FieldSpec, SortedMap<Long, byte @Nullable []>> changes) {
    SortedMap<Integer, FieldSpec> specs = new TreeMap<>();
    if (before != null) {
      for (int id : before.json().fields().keySet()) {
        PatchField field = before.json().field(id);
        specs.put(
            id, new FieldSpec(id, "field" + id, field.type(), field.shape(), field.compression()));
      }
    }
    changes.keySet().forEach(spec -> specs.put(spec.id(), spec));
    return specs;
  }

  /** Returns the values of the patch before that are left, and the new ones. */
  private Values merged(
      FieldSpec spec, @Nullable RankedBitmap dead, SortedMap<Long, byte @Nullable []> news) {
    Values values = new Values();
    ChangedField old = before == null ? null : before.changed(spec);
    long[] kept = old == null
        ? new long[0]
        : old.slots()
            .slotsIf(slot -> !news.containsKey(slot) && (dead == null || !dead.contains(slot)));
    int next = 0;
    for (Map.Entry<Long, byte @Nullable []> change : news.entrySet()) {
      for (; next < kept.length && kept[next] < change.getKey(); next++) {
        keep(values, java.util.Objects.requireNonNull(old), kept[next]);
      }
      put(values, change.getKey(), change.getValue());
    }
    for (; next < kept.length; next++) {
      keep(values, java.util.Objects.requireNonNull(old), kept[next]);
    }
    StatisticsCollector collector = StatisticsCollector.of(spec);
    if (collector != null && values.count > 0) {
      values.statistics = statistics(collector, values, news, old, knownOf(spec, old));
    }
    return values;
  }

  private List<StatisticsRecord> knownOf(FieldSpec spec, @Nullable ChangedField old) {
    return before == null || old == null ? List.of() : before.statistics(spec.id(), old.slots());
  }

  /** Returns what the values are: the new ones, and those that the patch before has. */
  private List<StatisticsRecord> statistics(
      StatisticsCollector collector,
      Values values,
      SortedMap<Long, byte @Nullable []> news,
      @Nullable ChangedField old,
      List<StatisticsRecord> known) {
    List<StatisticsRecord> records = new ArrayList<>();
    boolean isAnyKnown = false;
    for (int from = 0; from < values.count; ) {
      long end = values.slots[from] / StatisticsRecord.SLOTS * StatisticsRecord.SLOTS
          + StatisticsRecord.SLOTS;
      int to = from;
      int keptCount = 0;
      int absentCount = 0;
      for (; to < values.count && values.slots[to] < end; to++) {
        byte[] value = news.get(values.slots[to]);
        keptCount += news.containsKey(values.slots[to]) ? 0 : 1;
        absentCount += values.offsets[to] == 0 ? 1 : 0;
        if (value != null) {
          collector.add(value, 0, value.length);
        }
      }
      collector.endBlock();
      StatisticsRecord fresh = collector.records().get(collector.records().size() - 1);
      StatisticsRecord kept = StatisticsRecord.unknown(0);
      boolean isWhole = true;
      if (keptCount == 0) {
        kept = StatisticsRecord.NOTHING;
      } else if (old != null && !known.isEmpty()) {
        int container = old.slots().containerOf(end - 1);
        kept = known.get(container);
        isWhole = keptCount == old.slots().containerSlots(container);
      }
      StatisticsRecord joined = fresh.join(kept, isWhole, absentCount, to - from - absentCount);
      isAnyKnown |= joined.isKnown();
      records.add(joined);
      from = to;
    }
    return isAnyKnown ? records : List.of();
  }

  private static void keep(Values values, ChangedField old, long slot) {
    long rank = old.slots().rank(slot);
    EntryField field = old.values();
    long word0 = field.word0(rank);
    long word1 = field.word1(rank);
    int sum = field.binding().bindEntry(rank, word0, word1, field.storedChecksum(rank));
    if (Entry.isAbsent(word0, word1)) {
      values.add(slot, 0, 0, 0, sum);
    } else {
      values.add(slot, word0, field.chunkOf(rank, word0, word1), Entry.physicalLength(word1), sum);
    }
  }

  private void put(Values values, long slot, byte @Nullable [] value) {
    if (value == null) {
      values.add(slot, 0, 0, 0, 0);
      return;
    }
    WritableFile target = chunk();
    long offset = target.positionBytes();
    target.write(ByteBuffer.wrap(value));
    Zeros.write(target, -value.length & 7);
    values.add(slot, offset, NEW_CHUNK, value.length, Crc32c.of(value));
  }

  private WritableFile chunk() {
    WritableFile current = chunk;
    if (current == null) {
      current =
          storage.create(shard.directory() + "/" + ChunkFile.of(chunkId, 0).fileName());
      chunk = current;
      current.write(
          ByteBuffer.wrap(new FileHeader(FileHeader.Kind.CHUNK, shard.id(), chunkId).encode()));
    }
    return current;
  }

  private void closeChunk() {
    WritableFile current = chunk;
    if (current != null) {
      chunk = null;
      try (current) {
        if (durability == Durability.COMMIT) {
          current.force();
        }
        chunkBytes = current.positionBytes();
        current.finish();
      }
    }
  }

  /** Gives ordinals to the chunks that are used, those of the patch before first. */
  private void renumber(SortedMap<Integer, Values> fields, List<ChunkFile> chunks) {
    List<ChunkFile> old = before == null ? List.of() : before.json().chunks();
    int[] ordinals = new int[old.size()];
    for (Values values : fields.values()) {
      for (int i = 0; i < values.count; i++) {
        if (values.offsets[i] != 0 && values.chunks[i] != NEW_CHUNK) {
          ordinals[values.chunks[i]] = 1;
        }
      }
    }
    for (int i = 0; i < ordinals.length; i++) {
      if (ordinals[i] == 1) {
        ordinals[i] = chunks.size();
        chunks.add(old.get(i));
      }
    }
    int fresh = chunks.size();
    if (chunkBytes > 0) {
      chunks.add(ChunkFile.of(chunkId, chunkBytes));
    }
    for (Values values : fields.values()) {
      for (int i = 0; i < values.count; i++) {
        if (values.offsets[i] != 0) {
          values.chunks[i] = values.chunks[i] == NEW_CHUNK ? fresh : ordinals[values.chunks[i]];
        }
      }
    }
  }

  private ShardSummary seal(
      long[] deleted,
      SortedMap<Integer, FieldSpec> specs,
      SortedMap<Integer, Values> fields,
      List<ChunkFile> chunks) {
    file.writeBytes(new FileHeader(FileHeader.Kind.PATCH, shard.id(), fileId).encode());
    Section deletedAt = Section.NONE;
    int deletedSum = 0;
    if (deleted.length > 0) {
      byte[] slots = RankedBitmap.encode(deleted);
      deletedAt = section(slots);
      deletedSum = new Binding(fileId, 0).bind(Kind.DELETED, 0, Crc32c.of(slots));
    }
    List<PatchField> written = new ArrayList<>();
    for (Map.Entry<Integer, Values> field : fields.entrySet()) {
      Values values = field.getValue();
      FieldSpec spec = java.util.Objects.requireNonNull(specs.get(field.getKey()));
      Binding binding = new Binding(fileId, spec.id());
      byte[] slots = RankedBitmap.encode(Arrays.copyOf(values.slots, values.count));
      written.add(new PatchField(
          spec.id(),
          spec.type(),
          spec.shape(),
          Compression.RAW,
          values.count,
          values.absent,
          values.bytes,
          section(slots),
          binding.bind(Kind.CHANGED, 0, Crc32c.of(slots)),
          section(entries(values, binding)),
          values.statistics.isEmpty()
              ? Section.NONE
              : section(statistics(values.statistics, binding))));
    }
    section(NO_BYTES);
    int position = file.size();
    byte[] sealed = PatchJson.of(
            shard.id(), fileId, shard.slots(), chunks, deletedAt, deletedSum, written, position)
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
    return shard.patched(shard.slots() - deleted.length, all, ref);
  }

  private Section section(byte[] bytes) {
    while (file.size() % Section.ALIGNMENT != 0) {
      file.write(0);
    }
    Section section = new Section(file.size(), bytes.length);
    file.writeBytes(bytes);
    return section;
  }

  private static byte[] entries(Values values, Binding binding) {
    int count = values.count;
    ByteBuffer section = ByteBuffer.allocate(Math.toIntExact(EntryUnits.bytes(count)))
        .order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < count; i++) {
      int at = (int) EntryUnits.entryAt(i);
      long word0 = values.offsets[i];
      long word1 = word0 == 0 ? 0 : Entry.word1(values.chunks[i], values.lengths[i]);
      section.putLong(at, word0).putLong(at + Long.BYTES, word1);
      section.putInt(
          (int) EntryUnits.checksumAt(i, count),
          binding.bindEntry(i, word0, word1, values.sums[i]));
    }
    for (int unit = 0; unit < EntryUnits.unitCount(count); unit++) {
      int at = (int) EntryUnits.unitAt(unit);
      int bytes = EntryUnits.unitBytes(unit, count);
      int sum = Crc32c.of(section.array(), at, bytes);
      section.putInt(at + bytes, binding.bind(Kind.OFFSETS, unit, sum));
    }
    return section.array();
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
