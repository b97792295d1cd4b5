package io.zrecord.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.BlockRecord;
import io.zrecord.internal.format.BlockUnits;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.format.VariableBlocks;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Finds things in the files of a sealed shard with one tables file, for tests that damage them. */
public final class ShardOnDisk {
  private final Path directory;
  private final Path tables;
  private final byte[] content;
  private final TablesJson json;

  private ShardOnDisk(Path directory, Path tables, byte[] content, TablesJson json) {
    this.directory = directory;
    this.tables = tables;
    this.content = content;
    this.json = json;
  }

  /** Reads the tables file of a shard's directory as it is now. */
  public static ShardOnDisk of(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      Path tables = files
          .filter(file -> file.toString().endsWith(".tables"))
          .reduce((first, second) -> {
            throw new IllegalStateException("Two tables files in " + directory);
          })
          .orElseThrow();
      return of(directory, tables, Files.readAllBytes(tables));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ShardOnDisk of(Path directory, Path tables, byte[] content) {
    int end = content.length - TablesTrailer.BYTES;
    TablesTrailer trailer = TablesTrailer.read(
        "tables", Arrays.copyOfRange(content, end, content.length), content.length);
    byte[] json = Arrays.copyOfRange(content, (int) trailer.position(), end);
    return new ShardOnDisk(
        directory, tables, content, TablesJson.read("tables", json, trailer.position()));
  }

  /**
   * Writes the JSON as it is after a change, with a seal that holds. Returns the summary that a
   * manifest has of the shard then.
   */
  public ShardSummary writeJson(Consumer<ObjectNode> change) {
    try {
      ObjectNode node = (ObjectNode) new ObjectMapper().readTree(sealedJson());
      node.remove("crc32c");
      change.accept(node);
      return writeJson(SealedJson.seal(node));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes another JSON after the sections. */
  public ShardSummary writeJson(byte[] sealed) {
    int position = (int) json.position();
    byte[] trailer = new TablesTrailer(position, sealed.length).encode();
    byte[] changed = Arrays.copyOf(content, position + sealed.length + trailer.length);
    System.arraycopy(sealed, 0, changed, position, sealed.length);
    System.arraycopy(trailer, 0, changed, position + sealed.length, trailer.length);
    try {
      Files.write(tables, changed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return summary(sealed);
  }

  /** Returns the JSON with its seal. */
  public byte[] sealedJson() {
    return Arrays.copyOfRange(content, (int) json.position(), content.length - TablesTrailer.BYTES);
  }

  /** Returns the tables file. */
  public Path tables() {
    return tables;
  }

  public Path chunk(int ordinal) {
    return directory.resolve(json.chunks().get(ordinal).fileName());
  }

  public TablesJson json() {
    return json;
  }

  public FieldTables field(int id) {
    return json.field(id);
  }

  /** Returns the summary that a manifest has of the shard, without the sizes of its fields. */
  public ShardSummary summary() {
    return summary(sealedJson());
  }

  private ShardSummary summary(byte[] sealed) {
    TablesRef ref = new TablesRef(
        json.fileId(),
        json.position() + sealed.length + TablesTrailer.BYTES,
        json.position(),
        sealed.length,
        SealedJson.checksum("tables", sealed),
        List.copyOf(json.fieldIds()));
    return new ShardSummary(
        json.shardId(), json.length(), json.chunks(), List.of(ref), new TreeMap<>());
  }

  /**
   * Returns the position in the tables file of what tells where the value of a slot is: its entry,
   * or its end in a block.
   */
  public long placeAt(int fieldId, long slot) {
    return hasBlocks(fieldId)
        ? Block.of(this, fieldId, slot).endAt()
        : field(fieldId).offsets().position() + EntryUnits.entryAt(slot);
  }

  /** Returns the position in the tables file of the checksum of a slot's value, or of its unit. */
  public long checksumAt(int fieldId, long slot) {
    return hasBlocks(fieldId)
        ? Block.of(this, fieldId, slot).checksumAt()
        : field(fieldId).offsets().position() + EntryUnits.checksumAt(slot, json.length());
  }

  /** Returns the position in its chunk of the value of a slot. */
  public long offset(int fieldId, long slot) {
    return hasBlocks(fieldId)
        ? Block.of(this, fieldId, slot).start()
        : words().getLong((int) placeAt(fieldId, slot));
  }

  /** Returns the length in its chunk of the value of a slot. */
  public int storedBytes(int fieldId, long slot) {
    if (!hasBlocks(fieldId)) {
      return words().getInt((int) placeAt(fieldId, slot) + 12);
    }
    Block block = Block.of(this, fieldId, slot);
    return (int) (block.end() - block.start());
  }

  /** Returns the units that tell where values are, each with its checksum but without zeros. */
  public List<Section> placeUnits(int fieldId) {
    List<Section> units = new ArrayList<>();
    if (field(fieldId).blockBytes() > 0) {
      Section section = field(fieldId).offsets();
      long blocks = BlockUnits.blocks(section.bytes());
      for (long unit = 0; unit * BlockUnits.UNIT_BLOCKS < blocks; unit++) {
        units.add(new Section(
            section.position() + BlockUnits.unitAt(unit),
            BlockUnits.unitBytes(unit, blocks) + Integer.BYTES));
      }
      return units;
    }
    for (long slot = 0; slot < json.length(); ) {
      if (hasBlocks(fieldId)) {
        Block block = Block.of(this, fieldId, slot);
        units.add(new Section(block.at, block.bytes() + Integer.BYTES));
        slot += block.values();
      } else {
        long unit = EntryUnits.unitOf(slot);
        long at = field(fieldId).offsets().position() + EntryUnits.unitAt(unit);
        units.add(new Section(at, EntryUnits.unitBytes(unit, json.length()) + Integer.BYTES));
        slot += EntryUnits.UNIT_SLOTS;
      }
    }
    return units;
  }

  /** Returns the slot of the first value of the unit of a slot's value. */
  public long unitSlot(int fieldId, long slot) {
    return slot - Block.of(this, fieldId, slot).ordinal() % unitValues(fieldId, slot);
  }

  /** Returns how many values have one checksum where a slot's value is. */
  public int unitValues(int fieldId, long slot) {
    return Block.of(this, fieldId, slot).run().unitValues();
  }

  /** Tells whether the values of a field are in variable runs. */
  public boolean hasBlocks(int fieldId) {
    return words().getInt((int) field(fieldId).runs().position()) == 2;
  }

  /** Returns the runs of a field of any width. */
  public List<RunRecord> runs(int fieldId) {
    FieldTables field = field(fieldId);
    int at = (int) field.runs().position();
    byte[] section = Arrays.copyOfRange(content, at, at + (int) field.runs().bytes());
    Binding binding = new Binding(json.shardId(), fieldId);
    return RunRecord.read("tables", section, json, field, -1, binding);
  }

  /** A block of a variable run, and the place in the block of one of its values. */
  private record Block(
      ShardOnDisk shard, FieldTables field, RunRecord run, long number, int at, int ordinal) {

    static Block of(ShardOnDisk shard, int fieldId, long slot) {
      FieldTables field = shard.field(fieldId);
      long blocks = 0;
      for (RunRecord run : shard.runs(fieldId)) {
        long inRun = slot - run.firstSlot();
        if (inRun < run.count()) {
          long block = inRun / VariableBlocks.BLOCK_VALUES;
          long at = field.offsets().position()
              + run.offsetsAt()
              + block * VariableBlocks.paddedBytes(VariableBlocks.BLOCK_VALUES, run.unitValues());
          int ordinal = (int) (inRun % VariableBlocks.BLOCK_VALUES);
          return new Block(shard, field, run, blocks + block, (int) at, ordinal);
        }
        blocks += VariableBlocks.blockCount(run.count());
      }
      throw new IllegalArgumentException("No slot " + slot);
    }

    int values() {
      long inRun = (at - field.offsets().position() - run.offsetsAt())
          / VariableBlocks.paddedBytes(VariableBlocks.BLOCK_VALUES, run.unitValues());
      return VariableBlocks.valuesOf(inRun, run.count());
    }

    int bytes() {
      return VariableBlocks.bytes(values(), run.unitValues());
    }

    int endAt() {
      return at + VariableBlocks.ENDS_AT + Integer.BYTES * ordinal;
    }

    int checksumAt() {
      return at
          + VariableBlocks.checksumsAt(values())
          + Integer.BYTES * (ordinal / run.unitValues());
    }

    long end() {
      return shard.words().getLong(at) + Integer.toUnsignedLong(shard.words().getInt(endAt()));
    }

    long start() {
      long previous = ordinal == 0
          ? shard.words().getLong(at)
          : shard.words().getLong(at)
              + Integer.toUnsignedLong(shard.words().getInt(endAt() - Integer.BYTES));
      return field.alignment().start(previous, end());
    }
  }

  /** Returns the position in its chunk of a run of values of one width. */
  public long runOffset(int fieldId, int run) {
    return words().getLong((int) field(fieldId).runs().position() + RunRecord.BYTES * run + 24);
  }

  /** Returns the length in its chunk of a run of values of one width. */
  public long runBytes(int fieldId, int run) {
    return words().getLong((int) field(fieldId).runs().position() + RunRecord.BYTES * run + 32);
  }

  /** Returns the number of runs of a field. */
  public int runCount(int fieldId) {
    return (int) (field(fieldId).runs().bytes() / RunRecord.BYTES);
  }

  /** Returns what the tables say of a block. */
  public BlockRecord block(int fieldId, long block) {
    return BlockRecord.read(words(), (int) blockAt(fieldId, block));
  }

  /** Returns the position in the tables file of the record of a block. */
  public long blockAt(int fieldId, long block) {
    return field(fieldId).offsets().position() + BlockUnits.recordAt(block);
  }

  /** Gives a unit of records of blocks, which was changed on disk, a checksum that holds. */
  public void sealBlocks(int fieldId, long unit) {
    long blocks = BlockUnits.blocks(field(fieldId).offsets().bytes());
    try {
      byte[] changed = Files.readAllBytes(tables);
      int at = (int) (field(fieldId).offsets().position() + BlockUnits.unitAt(unit));
      int bytes = BlockUnits.unitBytes(unit, blocks);
      int checksum = new Binding(json.shardId(), fieldId)
          .bind(Binding.Kind.OFFSETS, unit, Crc32c.of(changed, at, bytes));
      ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(at + bytes, checksum);
      Files.write(tables, changed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Gives the unit of entries or the block of a slot, which was changed on disk, a checksum that
   * holds.
   */
  public void sealPlace(int fieldId, long slot) {
    try {
      byte[] changed = Files.readAllBytes(tables);
      long unit = EntryUnits.unitOf(slot);
      int at = (int) (field(fieldId).offsets().position() + EntryUnits.unitAt(unit));
      int bytes = EntryUnits.unitBytes(unit, json.length());
      if (hasBlocks(fieldId)) {
        Block block = Block.of(this, fieldId, slot);
        unit = block.number;
        at = block.at;
        bytes = block.bytes();
      }
      int checksum = new Binding(json.shardId(), fieldId)
          .bind(Binding.Kind.OFFSETS, unit, Crc32c.of(changed, at, bytes));
      ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(at + bytes, checksum);
      Files.write(tables, changed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ByteBuffer words() {
    return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
  }
}
