package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.internal.codec.ValueCodec;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a sealed shard with one tables file byte by byte as docs/spec/FORMAT.md says. Shares no
 * code with the engine except for codecs. Asserts everything that the specification demands:
 * checksums, bounds, alignment, zero padding, no two values on one byte, no two tables on one byte,
 * and the sums in the JSON. Also asserts that the writer aligned what it was to align.
 */
public final class ShardProbe {
  private static final int SEAL_BYTES = 22;

  private final Storage storage;
  private final String directory;
  private final UUID id;
  private final byte[] tables;
  private final ByteBuffer in;
  private final long jsonAt;
  private final JsonNode json;
  private final boolean hasChecksums;
  private final List<byte[]> chunks = new ArrayList<>();
  private final List<List<long[]>> taken = new ArrayList<>();
  private final List<long[]> sections = new ArrayList<>();
  private final int recordCount;
  private final int[][] chunkOrdinals;
  private final byte[] @Nullable [][] values;
  private final long[][] offsets;
  private final int[] runCounts;
  private final int[] kinds;
  private final long alignBytes;

  private ShardProbe(Storage storage, UUID id, long alignBytes) {
    this.alignBytes = alignBytes;
    this.storage = storage;
    this.id = id;
    this.directory = "shard/" + id + "/";
    List<String> names = storage.list("shard/" + id).stream()
        .map(StoredFile::name)
        .filter(name -> name.endsWith(".tables"))
        .toList();
    assertThat(names).hasSize(1);
    tables = storage.read(directory + names.get(0), Integer.MAX_VALUE);
    in = littleEndian(tables);
    checkHeader(tables, "ZRECTBLS", names.get(0).replace(".tables", ""));
    int trailer = tables.length - 16;
    jsonAt = in.getLong(trailer);
    int jsonBytes = in.getInt(trailer + 8);
    assertThat(in.getInt(trailer + 12))
        .isEqualTo(BindingProbe.crc(Arrays.copyOfRange(tables, trailer, trailer + 12)));
    assertThat(jsonAt % 64).isZero();
    assertThat(jsonAt + jsonBytes).isEqualTo(trailer);
    json = parse(Arrays.copyOfRange(tables, (int) jsonAt, trailer));
    assertThat(json.get("format").intValue()).isEqualTo(2);
    assertThat(json.get("shard").textValue()).isEqualTo(id.toString());
    assertThat(names.get(0)).isEqualTo(json.get("file").textValue() + ".tables");
    hasChecksums = json.get("checksum").textValue().equals("crc32c");
    recordCount = json.get("length").intValue();
    int fieldCount = json.get("fields").size();
    chunkOrdinals = new int[fieldCount][recordCount];
    values = new byte[fieldCount][recordCount][];
    offsets = new long[fieldCount][recordCount];
    runCounts = new int[fieldCount];
    kinds = new int[fieldCount];
  }

  private static JsonNode parse(byte[] sealed) {
    int end = sealed.length - SEAL_BYTES;
    String seal = new String(sealed, end, SEAL_BYTES, StandardCharsets.US_ASCII);
    String crc = HexFormat.of().toHexDigits(BindingProbe.crc(Arrays.copyOf(sealed, end)));
    assertThat(seal).isEqualTo(",\"crc32c\":\"" + crc + "\"}\n");
    try {
      return new ObjectMapper().readTree(sealed);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Reads all of a shard. */
  public static ShardProbe read(Storage storage, UUID id) {
    return read(storage, id, 8);
  }

  /** Reads all of a shard that was written with this alignment. */
  public static ShardProbe read(Storage storage, UUID id, long alignBytes) {
    ShardProbe probe = new ShardProbe(storage, id, alignBytes);
    probe.readChunks();
    for (int f = 0; f < probe.runCounts.length; f++) {
      probe.readField(f, probe.json.get("fields").get(f));
      probe.checkStatistics(probe.json.get("fields").get(f));
    }
    probe.checkPadding();
    probe.checkSections();
    return probe;
  }

  public int length() {
    return recordCount;
  }

  /** Returns the length of each chunk file. */
  public List<Long> chunkBytes() {
    return chunks.stream().map(chunk -> (long) chunk.length).toList();
  }

  public long absentCount(int field) {
    return json.get("fields").get(field).get("absent").longValue();
  }

  /** Returns the kind of the runs of a field. */
  public int runKind(int field) {
    return kinds[field];
  }

  /** Returns the value, or null if it is absent. */
  public byte @Nullable [] value(int field, int record) {
    return values[field][record];
  }

  /** Returns where the value begins in its chunk. */
  public long offset(int field, int record) {
    return offsets[field][record];
  }

  /** Returns the ordinal of the chunk of the value. */
  public int chunk(int field, int record) {
    return chunkOrdinals[field][record];
  }

  /** Returns the number of the runs of a field. */
  public int runCount(int field) {
    return runCounts[field];
  }

  /** Returns the length of a section; 0 if the field has no such section. */
  public long sectionBytes(int field, String name) {
    JsonNode section = json.get("fields").get(field).get(name);
    return section == null ? 0 : section.get(1).longValue();
  }

  /** Returns the bytes of a chunk file. */
  public byte[] chunkFile(int ordinal) {
    return chunks.get(ordinal).clone();
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private void checkHeader(byte[] bytes, String magic, String file) {
    ByteBuffer header = littleEndian(bytes);
    assertThat(new String(bytes, 0, 8, StandardCharsets.US_ASCII)).isEqualTo(magic);
    assertThat(header.getInt(8)).isEqualTo(2);
    assertThat(header.getInt(12)).isEqualTo(64);
    assertThat(Arrays.copyOfRange(bytes, 48, 60)).containsOnly(0);
    assertThat(header.getInt(60)).isEqualTo(BindingProbe.crc(Arrays.copyOf(bytes, 60)));
    header.order(ByteOrder.BIG_ENDIAN);
    assertThat(new UUID(header.getLong(16), header.getLong(24))).isEqualTo(id);
    assertThat(new UUID(header.getLong(32), header.getLong(40))).hasToString(file);
  }

  private void readChunks() {
    for (JsonNode chunk : json.get("chunks")) {
      assertThat(chunk.size()).isEqualTo(2);
      String file = chunk.get(0).textValue();
      byte[] bytes = storage.read(directory + file + ".zr", Integer.MAX_VALUE);
      assertThat((long) bytes.length).isEqualTo(chunk.get(1).longValue());
      checkHeader(bytes, "ZRECCHNK", file);
      chunks.add(bytes);
      taken.add(new ArrayList<>());
    }
    assertThat(storage.list("shard/" + id)).hasSize(chunks.size() + 1);
  }

  /** Returns the position of a section, which is 0 if the section is missing. */
  private int section(JsonNode field, String name, long expectedBytes) {
    if (!field.has(name)) {
      assertThat(expectedBytes).as("bytes of the missing " + name).isZero();
      return 0;
    }
    long at = field.get(name).get(0).longValue();
    long bytes = field.get(name).get(1).longValue();
    assertThat(bytes).as("bytes of " + name).isEqualTo(expectedBytes);
    assertThat(at % 64).isZero();
    sections.add(new long[] {at, at + bytes});
    return (int) at;
  }

  /** Returns the checksum of a unit that belongs to the shard, a field, a kind and a number. */
  private int bound(int fieldId, int kind, long unit, byte[] bytes) {
    return BindingProbe.crc(bytes) ^ BindingProbe.crcOfBinding(id, fieldId, kind, unit);
  }

  private void checkTable(int fieldId, int kind, long unit, int at, int bytes) {
    assertThat(in.getInt(at + bytes))
        .as("checksum of unit %s of kind %s", unit, kind)
        .isEqualTo(bound(fieldId, kind, unit, Arrays.copyOfRange(tables, at, at + bytes)));
  }

  private void readField(int f, JsonNode field) {
    int fieldId = field.get("id").intValue();
    int runs = (int) (field.get("runs").get(1).longValue() / 64);
    int runsAt = section(field, "runs", 64L * runs);
    assertThat(HexFormat.fromHexDigits(field.get("runs").get(2).textValue()))
        .isEqualTo(bound(fieldId, 5, 0, Arrays.copyOfRange(tables, runsAt, runsAt + 64 * runs)));
    runCounts[f] = runs;
    kinds[f] = in.getInt(runsAt);
    if (kinds[f] == 2) {
      readVariable(f, field, fieldId, runsAt);
    } else if (kinds[f] == 3) {
      readBlocks(f, field, fieldId, runsAt);
    } else if (kinds[f] == 4) {
      assertThat(runs).isOne();
      assertThat(in.getInt(runsAt + 4)).isEqualTo(-1);
      assertThat(in.getLong(runsAt + 8)).isZero();
      assertThat(in.getLong(runsAt + 16)).isEqualTo(recordCount);
      assertThat(Arrays.copyOfRange(tables, runsAt + 24, runsAt + 64)).containsOnly(0);
      readEntries(f, field, fieldId);
    } else {
      readRuns(f, field, fieldId, runsAt);
    }
    assertThat(field.get("absent").longValue())
        .isEqualTo(Arrays.stream(values[f]).filter(v -> v == null).count());
  }

  private void readBlocks(int f, JsonNode field, int fieldId, int runsAt) {
    section(field, "units", 0);
    boolean hasValidity = field.has("validity");
    assertThat(hasValidity).isEqualTo(field.get("absent").longValue() > 0);
    int validityAt = readValidity(field, fieldId, hasValidity);
    long bytes = field.get("offsets").get(1).longValue();
    int at = section(field, "offsets", bytes);
    int blocks = (int) (bytes / 20_488 * 512 + Math.max(0, bytes % 20_488 - 8) / 40);
    assertThat(bytes).isEqualTo(40L * blocks + 8L * ((blocks + 511) / 512));
    for (int unit = 0; unit * 512 < blocks; unit++) {
      int unitBytes = 40 * Math.min(512, blocks - 512 * unit);
      checkTable(fieldId, 6, unit, at + unit * 20_488, unitBytes);
      assertThat(in.getInt(at + unit * 20_488 + unitBytes + 4)).isZero();
    }
    int next = 0;
    long valueBytes = 0;
    Codec name = Codec.parse(field.get("compress").textValue());
    try (ValueCodec codec = ValueCodec.of(Compression.of(name))) {
      for (int r = 0; r < runCounts[f]; r++) {
        int run = runsAt + 64 * r;
        int chunk = in.getInt(run + 4);
        assertThat(in.getInt(run)).isEqualTo(3);
        assertThat(in.getLong(run + 8)).isEqualTo(next);
        assertThat(Arrays.copyOfRange(tables, run + 48, run + 64)).containsOnly(0);
        long position = in.getLong(run + 24);
        byte[] stored = take(chunk, position, (int) in.getLong(run + 32));
        int end = r + 1 == runCounts[f] ? blocks : (int) in.getLong(run + 64 + 40);
        int inRun = 0;
        for (int block = (int) in.getLong(run + 40); block < end; block++) {
          int record = at + block / 512 * 20_488 + block % 512 * 40;
          assertThat(in.getLong(record)).isEqualTo(next);
          assertThat(in.getLong(record + 8)).isEqualTo(position + inRun);
          int length = in.getInt(record + 16);
          byte[] payload = Arrays.copyOfRange(stored, inRun, inRun + length);
          assertThat(in.getInt(record + 32))
              .isEqualTo(hasChecksums ? bound(fieldId, 3, block, payload) : 0);
          assertThat(in.getInt(record + 36)).isZero();
          int raw = in.getInt(record + 20);
          int slots = in.getInt(record + 24);
          assertThat(slots == 1 || raw <= field.get("blockBytes").intValue()).isTrue();
          byte[][] decoded = decodeBlock(codec, field, payload, raw, slots, in.getInt(record + 28));
          for (int k = 0; k < slots; k++, next++) {
            chunkOrdinals[f][next] = chunk;
            offsets[f][next] = position + inRun;
            if (!hasValidity || isPresent(validityAt, next)) {
              values[f][next] = decoded[k];
            }
          }
          inRun += length;
        }
        assertThat(inRun).isEqualTo(stored.length);
        valueBytes += inRun;
        assertThat(next).isEqualTo(in.getLong(run + 8) + in.getLong(run + 16));
      }
    }
    assertThat(next).isEqualTo(recordCount);
    assertThat(field.get("valueBytes").longValue()).isEqualTo(valueBytes);
  }

  private static byte[][] decodeBlock(
      ValueCodec codec, JsonNode field, byte[] payload, int raw, int slots, int flags) {
    byte[] plain = payload;
    if (flags != 1) {
      assertThat(payload.length).as("a block that pays").isLessThan(raw);
      plain = new byte[raw];
      try {
        codec.decompress(payload, 0, payload.length, plain, 0, raw);
      } catch (DataFormatException e) {
        throw new AssertionError(e);
      }
    }
    assertThat(plain).hasSize(raw);
    ElementType type = ElementType.parse(field.get("dtype").textValue());
    int element = type.widthBytes().orElse(1);
    boolean isFixed = type.widthBytes().isPresent()
        && (!field.has("shape") || field.get("shape").get(0).intValue() >= 0);
    int lengths = isFixed || slots == 1 ? 0 : 4 * slots;
    int count = (raw - lengths) / element;
    byte[] bytes = Arrays.copyOfRange(plain, lengths, raw);
    if (flags > 1) {
      for (int i = 0; i < count; i++) {
        for (int k = 0; k < element; k++) {
          bytes[i * element + k] = plain[lengths + k * count + i];
        }
      }
    }
    for (int i = 1; flags == 4 && i < count; i++) {
      int carry = 0;
      for (int k = 0; k < element; k++) {
        carry += (bytes[(i - 1) * element + k] & 0xff) + (bytes[i * element + k] & 0xff);
        bytes[i * element + k] = (byte) carry;
        carry >>>= 8;
      }
    }
    byte[][] values = new byte[slots][];
    int at = 0;
    for (int i = 0; i < slots; i++) {
      int length = raw / slots;
      if (lengths > 0) {
        length = 0;
        for (int k = 0; k < 4; k++) {
          length |= (plain[flags == 1 ? 4 * i + k : slots * k + i] & 0xff) << (8 * k);
        }
      }
      values[i] = Arrays.copyOfRange(bytes, at, at + length);
      at += length;
    }
    assertThat(at).isEqualTo(bytes.length);
    return values;
  }

  private void readEntries(int f, JsonNode field, int fieldId) {
    int rest = recordCount % 1024;
    int last = rest == 0 ? 0 : (20 * rest + 4 + 7) / 8 * 8;
    int at = section(field, "offsets", recordCount / 1024 * 20_488L + last);
    section(field, "units", 0);
    section(field, "validity", 0);
    Codec name = Codec.parse(field.get("compress").textValue());
    long bytes = 0;
    try (ValueCodec codec = name == Codec.RAW ? null : ValueCodec.of(Compression.of(name))) {
      for (int first = 0; first < recordCount; first += 1024) {
        int slots = Math.min(1024, recordCount - first);
        int unitAt = at + first / 1024 * 20_488;
        checkTable(fieldId, 6, first / 1024, unitAt, 20 * slots);
        int end = unitAt + 20 * slots + 4;
        for (int i = end; i % 8 != 0; i++) {
          assertThat(tables[i]).as("byte %s", i).isZero();
        }
        for (int k = 0; k < slots; k++) {
          int checksum = in.getInt(unitAt + 16 * slots + 4 * k);
          bytes += readEntry(f, fieldId, first + k, unitAt + 16 * k, checksum, codec);
        }
      }
    }
    assertThat(field.get("valueBytes").longValue()).isEqualTo(bytes);
  }

  private int readEntry(
      int f, int fieldId, int record, int at, int checksum, @Nullable ValueCodec codec) {
    boolean isAbsent = in.getLong(at) == 0 && in.getLong(at + 8) == 0;
    byte[] stored = new byte[0];
    if (!isAbsent) {
      long offset = in.getLong(at);
      chunkOrdinals[f][record] = in.getInt(at + 8);
      stored = take(in.getInt(at + 8), offset, in.getInt(at + 12));
      offsets[f][record] = offset;
      if (codec == null && stored.length >= alignBytes) {
        assertThat(offset % alignBytes).as("place of record %s", record).isZero();
      }
      values[f][record] = codec == null ? stored : decode(codec, stored);
    }
    assertThat(checksum)
        .isEqualTo(hasChecksums ? bound(fieldId, isAbsent ? 2 : 1, record, stored) : 0);
    return stored.length;
  }

  private void readVariable(int f, JsonNode field, int fieldId, int runsAt) {
    int least = field.has("align") ? field.get("align").get(0).intValue() : 1;
    int most = field.has("align") ? field.get("align").get(1).intValue() : 1;
    section(field, "units", 0);
    boolean hasValidity = field.has("validity");
    assertThat(hasValidity).isEqualTo(field.get("absent").longValue() > 0);
    int validityAt = readValidity(field, fieldId, hasValidity);
    int offsetsAt = section(field, "offsets", field.get("offsets").get(1).longValue());
    Codec name = Codec.parse(field.get("compress").textValue());
    int next = 0;
    int units = 0;
    int blocks = 0;
    int at = offsetsAt;
    long valueBytes = 0;
    try (ValueCodec codec = name == Codec.RAW ? null : ValueCodec.of(Compression.of(name))) {
      for (int r = 0; r < runCounts[f]; r++) {
        int run = runsAt + 64 * r;
        assertThat(in.getInt(run)).isEqualTo(2);
        int chunk = in.getInt(run + 4);
        assertThat(in.getLong(run + 8)).isEqualTo(next);
        int count = (int) in.getLong(run + 16);
        long offset = in.getLong(run + 24);
        byte[] bytes = take(chunk, offset, (int) in.getLong(run + 32));
        assertThat(in.getLong(run + 40)).isEqualTo(units);
        assertThat(in.getLong(run + 48)).isEqualTo(at - offsetsAt);
        int unitValues = in.getInt(run + 56);
        assertThat(unitValues > 0).isEqualTo(hasChecksums);
        assertThat(in.getInt(run + 60)).isZero();
        long end = offset;
        for (int first = 0; first < count; first += 1024, blocks++) {
          int values = Math.min(1024, count - first);
          assertThat(in.getLong(at)).isEqualTo(end);
          long base = end;
          long unitStart = 0;
          int sums = at + 8 + 4 * values;
          for (int k = 0; k < values; k++, next++) {
            long start = (end + least - 1) / least * least;
            long valueEnd = base + Integer.toUnsignedLong(in.getInt(at + 8 + 4 * k));
            if (valueEnd - end >= most) {
              start = (end + most - 1) / most * most;
            }
            for (long gap = end; gap < start; gap++) {
              assertThat(bytes[(int) (gap - offset)]).isZero();
            }
            end = valueEnd;
            byte[] stored = Arrays.copyOfRange(bytes, (int) (start - offset), (int) (end - offset));
            valueBytes += stored.length;
            chunkOrdinals[f][next] = chunk;
            offsets[f][next] = start;
            if (hasValidity && !isPresent(validityAt, next)) {
              assertThat(stored).isEmpty();
            } else {
              values(f, next, start, stored, codec);
            }
            if (hasChecksums && k % unitValues == 0) {
              unitStart = start;
            }
            if (hasChecksums && (k % unitValues == unitValues - 1 || k == values - 1)) {
              byte[] unit =
                  Arrays.copyOfRange(bytes, (int) (unitStart - offset), (int) (end - offset));
              assertThat(in.getInt(sums + k / unitValues * 4))
                  .isEqualTo(bound(fieldId, 1, next - k % unitValues, unit));
              units++;
            }
          }
          int sumCount = hasChecksums ? (values + unitValues - 1) / unitValues : 0;
          int length = 8 + 4 * values + 4 * sumCount;
          checkTable(fieldId, 6, blocks, at, length);
          int padded = (length + 4 + 7) / 8 * 8;
          for (int i = length + 4; i < padded; i++) {
            assertThat(tables[at + i]).isZero();
          }
          at += padded;
        }
        assertThat(end).isEqualTo(offset + bytes.length);
      }
    }
    assertThat(next).isEqualTo(recordCount);
    assertThat(at - offsetsAt).isEqualTo((int) field.get("offsets").get(1).longValue());
    assertThat(field.get("valueBytes").longValue()).isEqualTo(valueBytes);
  }

  private void values(int f, int record, long start, byte[] stored, @Nullable ValueCodec codec) {
    if (codec == null && stored.length >= alignBytes && alignBytes > 8) {
      assertThat(start % alignBytes).as("place of record %s", record).isZero();
    }
    values[f][record] = codec == null ? stored : decode(codec, stored);
  }

  private static byte[] decode(ValueCodec codec, byte[] stored) {
    int prefix = littleEndian(stored).getInt(0);
    byte[] payload = Arrays.copyOfRange(stored, 4, stored.length);
    int length = prefix & Integer.MAX_VALUE;
    if (prefix < 0) {
      assertThat(payload).hasSize(length);
      return payload;
    }
    assertThat(payload.length).as("a payload that pays").isLessThan(length);
    byte[] value = new byte[length];
    try {
      codec.decompress(payload, 0, payload.length, value, 0, length);
    } catch (DataFormatException e) {
      throw new AssertionError(e);
    }
    return value;
  }

  private void readRuns(int f, JsonNode field, int fieldId, int runsAt) {
    long valueBytes = field.get("valueBytes").longValue();
    int width = (int) (valueBytes / recordCount);
    assertThat(valueBytes).isEqualTo((long) width * recordCount);
    int unitBytes = hasChecksums ? field.get("unitBytes").intValue() : 0;
    if (hasChecksums) {
      assertThat(Integer.bitCount(unitBytes)).isOne();
      assertThat(unitBytes).isBetween(4096, 65536);
      assertThat(unitBytes == 65536 || unitBytes >= 4 * width).isTrue();
      assertThat(unitBytes == 4096 || unitBytes / 2 < 4 * width).isTrue();
    }
    boolean hasValidity = field.has("validity");
    assertThat(hasValidity).isEqualTo(field.get("absent").longValue() > 0);
    int validityAt = readValidity(field, fieldId, hasValidity);
    List<Integer> checksums = new ArrayList<>();
    int next = 0;
    for (int r = 0; r < runCounts[f]; r++) {
      int at = runsAt + 64 * r;
      assertThat(in.getInt(at)).isEqualTo(1);
      int chunk = in.getInt(at + 4);
      assertThat(in.getLong(at + 8)).isEqualTo(next);
      int count = (int) in.getLong(at + 16);
      assertThat(in.getLong(at + 32)).isEqualTo((long) count * width);
      assertThat(in.getLong(at + 40)).isEqualTo(checksums.size());
      assertThat(Arrays.copyOfRange(tables, at + 48, at + 64)).containsOnly(0);
      byte[] run = take(chunk, in.getLong(at + 24), count * width);
      for (int start = 0; hasChecksums && start < run.length; start += unitBytes) {
        byte[] unit = Arrays.copyOfRange(run, start, Math.min(run.length, start + unitBytes));
        checksums.add(bound(fieldId, 3, checksums.size(), unit));
      }
      for (int i = 0; i < count; i++, next++) {
        chunkOrdinals[f][next] = chunk;
        offsets[f][next] = in.getLong(at + 24) + (long) i * width;
        byte[] value = Arrays.copyOfRange(run, i * width, (i + 1) * width);
        if (hasValidity && !isPresent(validityAt, next)) {
          assertThat(value).containsOnly(0);
        } else {
          values[f][next] = value;
        }
      }
    }
    assertThat(next).isEqualTo(recordCount);
    checkUnits(field, fieldId, checksums);
  }

  private void checkUnits(JsonNode field, int fieldId, List<Integer> checksums) {
    int groups = (checksums.size() + 1023) / 1024;
    int at = section(field, "units", 4L * (checksums.size() + groups));
    for (int unit = 0; unit < checksums.size(); unit++) {
      assertThat(in.getInt(at + 4 * (unit + unit / 1024))).isEqualTo(checksums.get(unit));
    }
    for (int group = 0; group < groups; group++) {
      int units = Math.min(1024, checksums.size() - 1024 * group);
      checkTable(fieldId, 12, group, at + 4100 * group, 4 * units);
    }
  }

  private int readValidity(JsonNode field, int fieldId, boolean hasValidity) {
    if (!hasValidity) {
      return section(field, "validity", 0);
    }
    int words = (recordCount + 63) / 64;
    int units = (recordCount + 32_767) / 32_768;
    int at = section(field, "validity", 8L * (words + units));
    for (int unit = 0; unit < units; unit++) {
      int bytes = 8 * Math.min(512, words - 512 * unit);
      checkTable(fieldId, 4, unit, at + 4104 * unit, bytes);
      assertThat(in.getInt(at + 4104 * unit + bytes + 4)).isZero();
    }
    for (int slot = recordCount; slot < 64 * words; slot++) {
      assertThat(isPresent(at, slot)).as("bit of no slot").isFalse();
    }
    return at;
  }

  private boolean isPresent(int validityAt, int slot) {
    return (in.getLong(validityAt + 8 * (slot / 64 + slot / 32_768)) >>> (slot % 64) & 1) != 0;
  }

  private void checkStatistics(JsonNode field) {
    if (!field.has("statistics")) {
      return;
    }
    int blocks = (recordCount + 65_535) / 65_536;
    int at = section(field, "statistics", 56L * blocks);
    long absent = 0;
    for (int block = 0; block < blocks; block++) {
      checkTable(field.get("id").intValue(), 7, block, at + 56 * block, 52);
      absent += in.getLong(at + 56 * block);
    }
    assertThat(absent).isEqualTo(field.get("absent").longValue());
  }

  /** Checks that tables do not overlap, and that all between them is zero. */
  private void checkSections() {
    sections.add(new long[] {jsonAt, jsonAt});
    sections.sort(java.util.Comparator.comparingLong(section -> section[0]));
    long end = 64;
    for (long[] section : sections) {
      assertThat(section[0]).isGreaterThanOrEqualTo(end);
      assertThat(section[0] - end).isLessThan(64);
      for (long i = end; i < section[0]; i++) {
        assertThat(tables[(int) i]).isZero();
      }
      end = section[1];
    }
  }

  private byte[] take(int chunk, long offset, int length) {
    byte[] bytes = chunks.get(chunk);
    assertThat(offset % 8).isZero();
    assertThat(offset).isBetween(64L, (long) bytes.length - length);
    if (length > 0) {
      taken.get(chunk).add(new long[] {offset, offset + length});
    }
    return Arrays.copyOfRange(bytes, (int) offset, (int) offset + length);
  }

  private void checkPadding() {
    for (int chunk = 0; chunk < taken.size(); chunk++) {
      List<long[]> intervals = taken.get(chunk);
      intervals.sort(
          java.util.Comparator.<long[]>comparingLong(i -> i[0]).thenComparingLong(i -> i[1]));
      byte[] bytes = chunks.get(chunk);
      long end = 64;
      intervals.add(new long[] {bytes.length, bytes.length});
      for (long[] interval : intervals) {
        assertThat(interval[0])
            .as("values that overlap in chunk %s", chunk)
            .isGreaterThanOrEqualTo(end);
        assertThat(interval[0] - end).as("wasted bytes").isLessThan(alignBytes);
        for (long i = end; i < interval[0]; i++) {
          assertThat(bytes[(int) i]).isZero();
        }
        end = interval[1];
      }
    }
  }
}
