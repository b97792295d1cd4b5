package io.zrecord.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.IntNode;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
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
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * Changes the files of a sealed shard with one tables file, and computes the checksums that then
 * hold: those of values, those of tables, or both. Computes them as docs/spec/FORMAT.md says,
 * without the engine. {@link #write} makes the JSON and the manifests fit.
 */
public final class ShardEditor {
  private static final int ENTRY_SLOTS = 1024;
  private static final int ENTRY_UNIT = 20_488;
  private static final int GROUP_UNITS = 1024;
  private static final int VALIDITY_UNIT = 4096;

  private final Path dataset;
  private final ShardOnDisk files;
  private final UUID shardId;
  private final byte[] tables;
  private final ByteBuffer words;
  private final List<byte[]> chunks = new ArrayList<>();
  private final ObjectNode json;

  private ShardEditor(Path dataset, Path directory) {
    this.dataset = dataset;
    this.files = ShardOnDisk.of(directory);
    this.shardId = files.json().shardId();
    this.tables = read(files.tables());
    this.words = ByteBuffer.wrap(tables).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < files.json().chunks().size(); i++) {
      chunks.add(read(files.chunk(i)));
    }
    this.json = parse(files.sealedJson());
  }

  /** Reads the files of a shard of a table. */
  public static ShardEditor of(Path dataset, Path directory) {
    return new ShardEditor(dataset, directory);
  }

  /** Returns the tables file, which the caller changes. */
  public ByteBuffer tables() {
    return words;
  }

  /** Returns a chunk file, which the caller changes. */
  public ByteBuffer chunk(int ordinal) {
    return ByteBuffer.wrap(chunks.get(ordinal)).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns where things are. */
  public ShardOnDisk places() {
    return files;
  }

  /** Exchanges two pieces of a file. */
  public static void exchange(ByteBuffer file, long one, long two, int length) {
    for (int i = 0; i < length; i++) {
      byte kept = file.get((int) one + i);
      file.put((int) one + i, file.get((int) two + i)).put((int) two + i, kept);
    }
  }

  /** Exchanges all tables of two fields, with the checksums of their lists of runs. */
  public void exchangeFields(int one, int two) {
    FieldTables a = files.field(one);
    FieldTables b = files.field(two);
    exchangeSections(a.runs(), b.runs());
    exchangeSections(a.units(), b.units());
    exchangeSections(a.validity(), b.validity());
    exchangeSections(a.offsets(), b.offsets());
    JsonNode kept = runsOf(one).get(2);
    runsOf(one).set(2, runsOf(two).get(2));
    runsOf(two).set(2, kept);
  }

  private void exchangeSections(Section one, Section two) {
    if (one.bytes() != two.bytes()) {
      throw new IllegalArgumentException(one + " has another length than " + two);
    }
    exchange(words, one.position(), two.position(), (int) one.bytes());
  }

  /**
   * Takes all values and tables of a shard with the same places, but keeps the headers and the
   * identities of the files.
   */
  public void takeAll(ShardEditor other) {
    int end = (int) files.json().position();
    System.arraycopy(other.tables, 64, tables, 64, end - 64);
    for (int i = 0; i < chunks.size(); i++) {
      byte[] from = other.chunks.get(i);
      System.arraycopy(from, 64, chunks.get(i), 64, from.length - 64);
    }
    json.set("fields", other.json.get("fields").deepCopy());
  }

  /** Computes the checksums of the values of a field. */
  public void sealValues(int fieldId) {
    FieldTables field = files.field(fieldId);
    if (files.hasBlocks(fieldId)) {
      forEachBlock(fieldId, block -> sealUnits(fieldId, block));
    } else if (field.offsets().isPresent()) {
      for (long slot = 0; slot < files.json().length(); slot++) {
        int checksum = entryChecksum(fieldId, slot, (int) files.placeAt(fieldId, slot));
        words.putInt((int) files.checksumAt(fieldId, slot), checksum);
      }
    } else {
      for (int run = 0; run < files.runCount(fieldId); run++) {
        sealUnits(fieldId, field, (int) field.runs().position() + 64 * run);
      }
    }
  }

  /** A block of 1,024 values of a variable run, or of what is left of the run. */
  private record Block(int chunk, long slot, int values, int unitValues, long number, int at) {
    int checksumsAt() {
      return at + 8 + 4 * values;
    }

    int bytes() {
      return 8 + 4 * values + 4 * ((values + unitValues - 1) / unitValues);
    }
  }

  private void forEachBlock(int fieldId, Consumer<Block> use) {
    long number = 0;
    for (int run = 0; run < files.runCount(fieldId); run++) {
      int at = (int) files.field(fieldId).runs().position() + 64 * run;
      long slot = words.getLong(at + 8);
      long count = words.getLong(at + 16);
      long blockAt = files.field(fieldId).offsets().position() + words.getLong(at + 48);
      for (long first = 0; first < count; first += 1024) {
        Block block = new Block(
            words.getInt(at + 4),
            slot + first,
            (int) Math.min(1024, count - first),
            words.getInt(at + 56),
            number++,
            (int) blockAt);
        use.accept(block);
        blockAt += (block.bytes() + 4L + 7) / 8 * 8;
      }
    }
  }

  private void sealUnits(int fieldId, Block block) {
    int base = (int) words.getLong(block.at);
    for (int from = 0; from < block.values; from += block.unitValues) {
      int to = Math.min(block.values, from + block.unitValues);
      int start = from == 0 ? base : base + words.getInt(block.at + 8 + 4 * (from - 1));
      int end = base + words.getInt(block.at + 8 + 4 * (to - 1));
      byte[] covered = Arrays.copyOfRange(chunks.get(block.chunk), start, end);
      int binding = BindingProbe.crcOfBinding(shardId, fieldId, 1, block.slot + from);
      words.putInt(
          block.checksumsAt() + 4 * (from / block.unitValues), BindingProbe.crc(covered) ^ binding);
    }
  }

  private int entryChecksum(int fieldId, long slot, int entryAt) {
    long offset = words.getLong(entryAt);
    long chunkAndLength = words.getLong(entryAt + 8);
    if (offset == 0 && chunkAndLength == 0) {
      return BindingProbe.crcOfBinding(shardId, fieldId, 2, slot);
    }
    int length = (int) (chunkAndLength >>> 32);
    byte[] chunk = chunks.get((int) chunkAndLength);
    byte[] stored = Arrays.copyOfRange(chunk, (int) offset, (int) offset + length);
    return BindingProbe.crc(stored) ^ BindingProbe.crcOfBinding(shardId, fieldId, 1, slot);
  }

  private void sealUnits(int fieldId, FieldTables field, int runAt) {
    byte[] chunk = chunks.get(words.getInt(runAt + 4));
    int offset = (int) words.getLong(runAt + 24);
    int bytes = (int) words.getLong(runAt + 32);
    long unit = words.getLong(runAt + 40);
    for (int from = 0; from < bytes; from += field.unitBytes(), unit++) {
      int to = Math.min(bytes, from + field.unitBytes());
      byte[] covered = Arrays.copyOfRange(chunk, offset + from, offset + to);
      int at = (int) (field.units().position() + 4 * (unit + unit / GROUP_UNITS));
      words.putInt(
          at, BindingProbe.crc(covered) ^ BindingProbe.crcOfBinding(shardId, fieldId, 3, unit));
    }
  }

  /** Computes the checksums of the tables of a field. */
  public void sealTables(int fieldId) {
    FieldTables field = files.field(fieldId);
    long records = files.json().length();
    if (files.hasBlocks(fieldId)) {
      forEachBlock(fieldId, block -> seal(fieldId, 6, block.number, block.at, block.bytes()));
    } else if (field.offsets().isPresent()) {
      for (long first = 0, unit = 0; first < records; first += ENTRY_SLOTS, unit++) {
        int bytes = (int) Math.min(ENTRY_SLOTS, records - first) * 20;
        seal(fieldId, 6, unit, field.offsets().position() + unit * ENTRY_UNIT, bytes);
      }
    }
    int stride = 4 * (GROUP_UNITS + 1);
    for (long at = 0, group = 0; at < field.units().bytes(); at += stride, group++) {
      int bytes = (int) Math.min(stride, field.units().bytes() - at) - 4;
      seal(fieldId, 12, group, field.units().position() + at, bytes);
    }
    for (long at = 0, unit = 0; at < field.validity().bytes(); at += VALIDITY_UNIT + 8, unit++) {
      int bytes = (int) Math.min(VALIDITY_UNIT, field.validity().bytes() - at - 8);
      seal(fieldId, 4, unit, field.validity().position() + at, bytes);
    }
    int checksum =
        bound(fieldId, 5, 0, field.runs().position(), (int) field.runs().bytes());
    runsOf(fieldId).set(2, json.textNode(HexFormat.of().toHexDigits(checksum)));
  }

  private void seal(int fieldId, int kind, long unit, long at, int bytes) {
    words.putInt((int) at + bytes, bound(fieldId, kind, unit, at, bytes));
  }

  private int bound(int fieldId, int kind, long unit, long at, int bytes) {
    byte[] covered = Arrays.copyOfRange(tables, (int) at, (int) at + bytes);
    return BindingProbe.crc(covered) ^ BindingProbe.crcOfBinding(shardId, fieldId, kind, unit);
  }

  private ArrayNode runsOf(int fieldId) {
    for (JsonNode field : json.get("fields")) {
      if (field.get("id").intValue() == fieldId) {
        return (ArrayNode) field.get("runs");
      }
    }
    throw new IllegalArgumentException("No field " + fieldId);
  }

  /**
   * Writes a JSON and a manifest that say the only shard has another length. The tables of its
   * fields stay as they are.
   */
  public void claimLength(long length) {
    json.put("length", length);
    ShardSummary claimed = files.writeJson(SealedJson.seal(json));
    editManifests(manifest -> {
      manifest.put("length", length);
      ObjectNode shard = (ObjectNode) manifest.get("shards").get(0);
      shard.put("length", length);
      point(shard, claimed.tables().get(0));
    });
  }

  /** Writes the files, with a JSON and manifests whose checksums hold. */
  public void write() {
    write(files.tables(), tables);
    for (int i = 0; i < chunks.size(); i++) {
      write(files.chunk(i), chunks.get(i));
    }
    TablesRef ref = ShardOnDisk.of(files.tables().getParent())
        .writeJson(SealedJson.seal(json))
        .tables()
        .get(0);
    editManifests(manifest -> manifest.get("shards").forEach(shard -> point(shard, ref)));
  }

  /** Makes the entry of a tables file in a shard of a manifest fit. */
  private static void point(JsonNode shard, TablesRef ref) {
    for (JsonNode tuple : shard.get("tables")) {
      if (tuple.get(0).textValue().equals(ref.id().toString())) {
        ArrayNode elements = (ArrayNode) tuple;
        elements.set(1, LongNode.valueOf(ref.bytes()));
        elements.set(3, IntNode.valueOf(ref.jsonBytes()));
        elements.set(4, TextNode.valueOf(HexFormat.of().toHexDigits(ref.jsonChecksum())));
      }
    }
  }

  private void editManifests(Consumer<ObjectNode> change) {
    try (Stream<Path> files = Files.list(dataset.resolve("manifest"))) {
      for (Path manifest :
          files.filter(file -> file.toString().endsWith(".json")).toList()) {
        ObjectNode node = parse(read(manifest));
        change.accept(node);
        write(manifest, SealedJson.seal(node));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ObjectNode parse(byte[] sealed) {
    try {
      ObjectNode node = (ObjectNode) new ObjectMapper().readTree(sealed);
      node.remove("crc32c");
      return node;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(Path file, byte[] content) {
    try {
      Files.write(file, content);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
