package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.zrecord.internal.format.ValueCodec;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
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

  /** Tells whether the values of a field have entries, and are not in runs of one width. */
  public boolean hasEntries(int field) {
    return json.get("fields").get(field).has("offsets");
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
    if (in.getInt(runsAt) == 4) {
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
    taken.get(chunk).add(new long[] {offset, offset + length});
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
