package io.zrecord.internal.shard.write;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.Origins;
import io.zrecord.internal.format.OriginsRef;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.format.StatisticsRecord;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesSince;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.format.UnitChecksums;
import io.zrecord.internal.format.ValidityUnits;
import io.zrecord.internal.format.ValueAlignment;
import io.zrecord.internal.shard.Zeros;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.Durability;
import io.zrecord.shard.TablesRef;
import io.zrecord.storage.Storage;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Writes a tables file: the tables of one field after the other, then the JSON that tells where
 * they are (FORMAT.md section 3). Belongs to one thread.
 */
public final class TablesWriter implements AutoCloseable {
  private final UUID shardId;
  private final UUID fileId;
  private final long length;
  private final boolean hasChecksums;
  private final WritableFile file;
  private final List<FieldTables> fields = new ArrayList<>();
  private final SortedMap<Integer, SlotSet> since = new TreeMap<>();
  private Optional<OriginsRef> origins = Optional.empty();
  private final byte[] unit = new byte[EntryUnits.paddedBytes(EntryUnits.UNIT_SLOTS)];
  private final ByteBuffer unitBuffer = ByteBuffer.wrap(unit).order(ByteOrder.LITTLE_ENDIAN);

  /**
   * Says how much a field has.
   *
   * @param absentCount number of absent values
   * @param valueBytes sum of the physical lengths
   * @param statistics of the blocks of slots; empty if there are none
   */
  public record Amount(long absentCount, long valueBytes, List<StatisticsRecord> statistics) {
    /** Makes an amount without statistics. */
    public Amount(long absentCount, long valueBytes) {
      this(absentCount, valueBytes, List.of());
    }
  }

  /**
   * Creates the file.
   *
   * @param directory of the shard
   * @param length number of records of the shard, > 0
   * @param hasChecksums whether values have checksums
   */
  public TablesWriter(
      Storage storage,
      String directory,
      UUID shardId,
      UUID fileId,
      long length,
      boolean hasChecksums) {
    this.shardId = shardId;
    this.fileId = fileId;
    this.length = length;
    this.hasChecksums = hasChecksums;
    this.file = create(storage, directory, new FileHeader(FileHeader.Kind.TABLES, shardId, fileId));
  }

  /** Returns the number of records of the shard. */
  long length() {
    return length;
  }

  private static WritableFile create(Storage storage, String directory, FileHeader header) {
    WritableFile created = storage.create(directory + "/" + header.fileId() + ".tables");
    try {
      created.write(ByteBuffer.wrap(header.encode()));
      return created;
    } catch (RuntimeException e) {
      created.close();
      throw e;
    }
  }

  /**
   * Writes the tables of a field whose values are runs of one width.
   *
   * @param unitChecksums a u32 for each unit of the runs; empty without checksums
   * @param validity a bit for each slot; empty if no value is absent
   */
  void fixed(
      FieldSpec field,
      Amount amount,
      int unitBytes,
      List<RunRecord> runs,
      SpooledTable unitChecksums,
      SpooledTable validity) {
    Binding binding = new Binding(shardId, field.id());
    byte[] list = RunRecord.encode(runs);
    long units = unitChecksums.lengthBytes() / Integer.BYTES;
    fields.add(new FieldTables(
        field.id(),
        field.type(),
        field.shape(),
        field.compression(),
        amount.absentCount,
        amount.valueBytes,
        units == 0 ? 0 : unitBytes,
        ValueAlignment.NONE,
        0,
        bytes(list),
        binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        units == 0 ? Section.NONE : units(unitChecksums.reader(), units, binding),
        validity.lengthBytes() == 0 ? Section.NONE : validity(validity.reader(), binding),
        Section.NONE,
        statistics(amount.statistics, binding)));
  }

  /**
   * Writes the tables of a field whose values are variable runs.
   *
   * @param written the runs, the last of which has ended
   * @param validity a bit for each slot; empty if no value is absent
   */
  void variable(FieldSpec field, Amount amount, VariableRuns written, SpooledTable validity) {
    Binding binding = new Binding(shardId, field.id());
    byte[] list = RunRecord.encode(written.runs());
    fields.add(new FieldTables(
        field.id(),
        field.type(),
        field.shape(),
        field.compression(),
        amount.absentCount,
        amount.valueBytes,
        0,
        written.alignment(),
        0,
        bytes(list),
        binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        Section.NONE,
        validity.lengthBytes() == 0 ? Section.NONE : validity(validity.reader(), binding),
        table(written.offsets()),
        statistics(amount.statistics, binding)));
  }

  /**
   * Writes the tables of a field whose values are compressed in blocks.
   *
   * @param blockBytes most raw bytes of a block of several values
   * @param records of the blocks, of {@link BlockUnits#RECORD_BYTES} each
   * @param validity a bit for each slot; empty if no value is absent
   */
  void blocks(
      FieldSpec field,
      Amount amount,
      int blockBytes,
      List<RunRecord> runs,
      SpooledTable records,
      SpooledTable validity) {
    Binding binding = new Binding(shardId, field.id());
    byte[] list = RunRecord.encode(runs);
    fields.add(new FieldTables(
        field.id(),
        field.type(),
        field.shape(),
        field.compression(),
        amount.absentCount,
        amount.valueBytes,
        0,
        ValueAlignment.NONE,
        blockBytes,
        bytes(list),
        binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        Section.NONE,
        validity.lengthBytes() == 0 ? Section.NONE : validity(validity.reader(), binding),
        blocks(records.reader(), records.lengthBytes() / BlockUnits.RECORD_BYTES, binding),
        statistics(amount.statistics, binding)));
  }

  /**
   * Writes the tables of a field whose values have entries.
   *
   * @param entries 16 bytes for each slot
   * @param checksums a u32 for each slot, which readers do not look at if the shard has none
   */
  public void entries(FieldSpec field, Amount amount, TableSource entries, TableSource checksums) {
    Binding binding = new Binding(shardId, field.id());
    byte[] list = RunRecord.encode(List.of(RunRecord.entries(length)));
    fields.add(new FieldTables(
        field.id(),
        field.type(),
        field.shape(),
        field.compression(),
        amount.absentCount,
        amount.valueBytes,
        0,
        ValueAlignment.NONE,
        0,
        bytes(list),
        binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        Section.NONE,
        Section.NONE,
        offsets(entries, checksums, binding),
        statistics(amount.statistics, binding)));
  }

  /**
   * Writes to which slots the commit of the file gives values of a field; otherwise it is to all.
   *
   * @param slots in rising order
   */
  void since(int fieldId, long[] slots) {
    if (slots.length == 0) {
      since.put(fieldId, SlotSet.NONE);
      return;
    }
    byte[] encoded = RankedBitmap.encode(slots);
    int sum = new Binding(fileId, fieldId).bind(Binding.Kind.CHANGED_SINCE, 0, Crc32c.of(encoded));
    since.put(fieldId, new SlotSet(bytes(encoded), sum));
  }

  /** Writes where records of the shard were before the commit of the file. */
  void origins(Origins of) {
    if (of.count() > 0) {
      byte[] slots = RankedBitmap.encode(of.slots());
      byte[] places = of.encodePlaces();
      origins = Optional.of(new OriginsRef(
          of.shards(),
          new SlotSet(bytes(slots), OriginsRef.checksum(fileId, Binding.Kind.CHANGED_SINCE, slots)),
          new SlotSet(bytes(places), OriginsRef.checksum(fileId, Binding.Kind.ORIGINS, places))));
    }
  }

  /** Writes the JSON and closes the file. */
  public TablesRef seal(List<ChunkFile> chunks, Durability durability) {
    align();
    long position = file.positionBytes();
    TablesJson json = TablesJson.of(shardId, fileId, length, hasChecksums, chunks, fields, position)
        .withSince(new TablesSince(since, origins));
    byte[] sealed = json.write();
    if (sealed.length > SealedJson.MAX_BYTES) {
      throw new IllegalStateException("The shard has " + chunks.size() + " chunks and "
          + fields.size() + " fields, which makes the JSON of its tables file of " + sealed.length
          + " bytes longer than the " + SealedJson.MAX_BYTES
          + " that readers accept; write larger chunks (chunkBytes) or more shards");
    }
    file.write(
        ByteBuffer.wrap(sealed),
        ByteBuffer.wrap(new TablesTrailer(position, sealed.length).encode()));
    if (durability == Durability.COMMIT) {
      file.force();
    }
    long bytes = file.positionBytes();
    file.finish();
    return new TablesRef(
        fileId,
        bytes,
        position,
        sealed.length,
        SealedJson.checksum(fileId.toString(), sealed),
        List.copyOf(json.fields().keySet()),
        RecordSchema.digest(fields.stream()
            .map(field -> new FieldSpec(
                field.id(), "field", field.type(), field.shape(), field.compression()))
            .toList()));
  }

  @Override
  public void close() {
    file.close();
  }

  private Section bytes(byte[] content) {
    long position = align();
    file.write(ByteBuffer.wrap(content));
    return endOf(position);
  }

  /** Copies a table that has its checksums. */
  private Section table(SpooledTable table) {
    long position = align();
    long bytes = table.lengthBytes();
    TableSource source = table.reader();
    for (long done = 0; done < bytes; ) {
      int step = (int) Math.min(unit.length, bytes - done);
      source.read(unit, 0, step);
      file.write(ByteBuffer.wrap(unit, 0, step));
      done += step;
    }
    return endOf(position);
  }

  private Section units(TableSource checksums, long count, Binding binding) {
    long position = align();
    for (long group = 0; group < UnitChecksums.groupCount(count); group++) {
      int bytes = UnitChecksums.groupBytes(group, count);
      checksums.read(unit, 0, bytes);
      writeUnit(bytes, bytes + Integer.BYTES, Binding.Kind.CHECKSUMS, group, binding);
    }
    return endOf(position);
  }

  private Section validity(TableSource bits, Binding binding) {
    long position = align();
    for (long number = 0; number < ValidityUnits.unitCount(length); number++) {
      int bytes = ValidityUnits.unitBytes(number, length);
      bits.read(unit, 0, bytes);
      int padded = bytes + ValidityUnits.CHECKSUM_BYTES;
      writeUnit(bytes, padded, Binding.Kind.VALIDITY, number, binding);
    }
    return endOf(position);
  }

  private Section offsets(TableSource entries, TableSource checksums, Binding binding) {
    long position = align();
    for (long number = 0; number < EntryUnits.unitCount(length); number++) {
      int slots = EntryUnits.unitSlots(number, length);
      entries.read(unit, 0, slots * Entry.BYTES);
      checksums.read(unit, slots * Entry.BYTES, slots * Integer.BYTES);
      int bytes = EntryUnits.unitBytes(number, length);
      writeUnit(bytes, EntryUnits.paddedBytes(slots), Binding.Kind.OFFSETS, number, binding);
    }
    return endOf(position);
  }

  private Section blocks(TableSource records, long count, Binding binding) {
    long position = align();
    for (long number = 0; number < BlockUnits.unitCount(count); number++) {
      int bytes = BlockUnits.unitBytes(number, count);
      records.read(unit, 0, bytes);
      writeUnit(bytes, bytes + BlockUnits.CHECKSUM_BYTES, Binding.Kind.OFFSETS, number, binding);
    }
    return endOf(position);
  }

  private Section statistics(List<StatisticsRecord> records, Binding binding) {
    if (records.isEmpty()) {
      return Section.NONE;
    }
    long position = align();
    for (int i = 0; i < records.size(); i++) {
      file.write(ByteBuffer.wrap(records.get(i).encode(binding, i)));
    }
    return endOf(position);
  }

  /** Writes the collected unit with its checksum, and zeros up to {@code paddedBytes}. */
  private void writeUnit(
      int bytes, int paddedBytes, Binding.Kind kind, long number, Binding binding) {
    if (paddedBytes > bytes + Integer.BYTES) {
      unitBuffer.putInt(bytes + Integer.BYTES, 0);
    }
    unitBuffer.putInt(bytes, binding.bind(kind, number, Crc32c.of(unit, 0, bytes)));
    file.write(ByteBuffer.wrap(unit, 0, paddedBytes));
  }

  /** Writes zeros up to the position of a section, and returns the position. */
  private long align() {
    Zeros.write(file, (int) (-file.positionBytes() & (Section.ALIGNMENT - 1)));
    return file.positionBytes();
  }

  private Section endOf(long position) {
    return new Section(position, file.positionBytes() - position);
  }
}
