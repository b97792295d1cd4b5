package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.FieldMeta;
import io.zrecord.internal.format.ShardMeta;
import io.zrecord.internal.format.ValueCodec;
import io.zrecord.schema.Codec;
import io.zrecord.storage.Storage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.zip.DataFormatException;
import org.jspecify.annotations.Nullable;

/**
 * Reads a sealed shard byte by byte as docs/spec/FORMAT.md says. Shares no code with the engine
 * except for meta files and codecs. Asserts everything that the specification demands: checksums,
 * bounds, alignment, zero padding, no two values on one byte, and the sums in the meta file. Also
 * asserts that the writer aligned what it was to align.
 */
public final class ShardProbe {
  private static final int BLOCK = 65_536;

  private final Storage storage;
  private final String directory;
  private final ShardMeta meta;
  private final Map<Integer, byte[]> chunks = new HashMap<>();
  private final Map<Integer, List<long[]>> taken = new HashMap<>();
  private final int recordCount;
  private final int[][] chunkIds;
  private final byte[] @Nullable [][] values;
  private final long[][] offsets;
  private final int[] runCounts;
  private final long alignBytes;

  private ShardProbe(Storage storage, UUID id, long alignBytes) {
    this.alignBytes = alignBytes;
    this.storage = storage;
    this.directory = "shard/" + id + "/";
    this.meta = ShardMeta.read("meta.json", file("meta.json"));
    assertThat(meta.id()).isEqualTo(id);
    int count = Math.toIntExact(meta.length());
    recordCount = count;
    chunkIds = new int[meta.fields().size()][count];
    values = new byte[meta.fields().size()][count][];
    offsets = new long[meta.fields().size()][count];
    runCounts = new int[meta.fields().size()];
  }

  /** Reads all of a shard. */
  public static ShardProbe read(Storage storage, UUID id) {
    return read(storage, id, 8);
  }

  /** Reads all of a shard that was written with this alignment. */
  public static ShardProbe read(Storage storage, UUID id, long alignBytes) {
    ShardProbe probe = new ShardProbe(storage, id, alignBytes);
    probe.readChunks();
    for (int f = 0; f < probe.meta.fields().size(); f++) {
      FieldMeta field = probe.meta.fields().get(f);
      if (field.layout() == FieldMeta.Layout.RUNS) {
        probe.readRuns(f, field);
      } else {
        probe.readEntries(f, field);
      }
    }
    probe.checkPadding();
    return probe;
  }

  public ShardMeta meta() {
    return meta;
  }

  /** Returns the value, or null if it is absent. */
  public byte @Nullable [] value(int field, int record) {
    return values[field][record];
  }

  /** Returns where the value begins in its chunk. */
  public long offset(int field, int record) {
    return offsets[field][record];
  }

  /** Returns the chunk of the value. */
  public int chunk(int field, int record) {
    return chunkIds[field][record];
  }

  /** Runs of a dense field. */
  public int runCount(int field) {
    return runCounts[field];
  }

  private byte[] file(String name) {
    return storage.read(directory + name, Integer.MAX_VALUE);
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the checksum of a unit that belongs to the shard, a field, a kind and a number. */
  private int bound(FieldMeta field, int kind, long unit, byte[] bytes) {
    return BindingProbe.crc(bytes)
        ^ BindingProbe.crcOfBinding(meta.id(), field.spec().id(), kind, unit);
  }

  private void readChunks() {
    for (ChunkMeta chunk : meta.chunks()) {
      byte[] bytes = file("chunk/" + chunk.id() + ".zr");
      assertThat(bytes.length).isEqualTo((int) chunk.endBytes());
      ByteBuffer header = littleEndian(bytes);
      assertThat(new String(bytes, 0, 8, StandardCharsets.US_ASCII)).isEqualTo("ZRECCHNK");
      assertThat(header.getInt(8)).isEqualTo(2);
      assertThat(header.getInt(12)).isEqualTo(64);
      assertThat(header.getInt(16)).isEqualTo(chunk.id());
      assertThat(header.getInt(60)).isEqualTo(BindingProbe.crc(Arrays.copyOf(bytes, 60)));
      header.order(ByteOrder.BIG_ENDIAN);
      assertThat(new UUID(header.getLong(24), header.getLong(32))).isEqualTo(meta.id());
      chunks.put(chunk.id(), bytes);
      taken.put(chunk.id(), new ArrayList<>());
      assertThat(chunk.isOfStore()).isFalse();
    }
    if (!meta.chunks().isEmpty()) {
      assertThat(storage.list(directory + "chunk")).hasSize(meta.chunks().size());
    }
  }

  private void readEntries(int f, FieldMeta field) {
    byte[] entries = file(field.stem() + ".offset");
    assertThat(entries).hasSize(16 * recordCount);
    byte[] checksums = meta.hasChecksums() ? file(field.stem() + ".crc32c") : new byte[0];
    assertThat(checksums).hasSize(meta.hasChecksums() ? 4 * recordCount : 0);
    long absent = 0;
    long bytes = 0;
    try (ValueCodec codec = field.spec().compression().codec() == Codec.RAW
        ? null
        : ValueCodec.of(field.spec().compression())) {
      for (int i = 0; i < recordCount; i++) {
        byte[] entry = Arrays.copyOfRange(entries, 16 * i, 16 * i + 16);
        ByteBuffer words = littleEndian(entry);
        byte[] stored = new byte[0];
        if (words.getLong(0) == 0 && words.getLong(8) == 0) {
          absent++;
        } else {
          long offset = words.getLong(0);
          int chunk = words.getInt(8);
          int length = words.getInt(12);
          chunkIds[f][i] = chunk;
          stored = take(chunk, offset, length);
          bytes += length;
          offsets[f][i] = offset;
          if (codec == null && length >= alignBytes) {
            assertThat(offset % alignBytes).as("place of record %s", i).isZero();
          }
          values[f][i] = codec == null ? stored : decode(codec, stored);
        }
        if (meta.hasChecksums()) {
          int kind = words.getLong(0) == 0 && words.getLong(8) == 0 ? 2 : 1;
          assertThat(littleEndian(checksums).getInt(4 * i))
              .isEqualTo(bound(field, kind, i, stored));
        }
      }
    }
    assertThat(field.absentCount()).isEqualTo(absent);
    assertThat(field.valueBytes()).isEqualTo(bytes);
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

  private void readRuns(int f, FieldMeta field) {
    byte[] file = file(field.stem() + ".runs");
    ByteBuffer in = littleEndian(file);
    assertThat(in.getInt(file.length - 4))
        .isEqualTo(bound(field, 5, 0, Arrays.copyOf(file, file.length - 4)));
    int width = in.getInt(24);
    int runs = in.getInt(28);
    boolean hasValidity = (in.getInt(36) & 2) != 0;
    int blocks = (int) in.getLong(40);
    assertThat(in.getInt(36) & 1).isEqualTo(meta.hasChecksums() ? 1 : 0);
    byte[] valid = hasValidity ? file(field.stem() + ".valid") : new byte[0];
    checkValidity(field, in, 64 + 40 * runs + 4 * blocks, valid, hasValidity);
    int next = 0;
    int nextBlock = 0;
    for (int r = 0; r < runs; r++) {
      int at = 64 + 40 * r;
      assertThat(in.getLong(at)).isEqualTo(next);
      int count = (int) in.getLong(at + 8);
      int chunk = in.getInt(at + 24);
      assertThat(in.getInt(at + 28)).isEqualTo(width);
      byte[] run = take(chunk, in.getLong(at + 16), count * width);
      if (meta.hasChecksums()) {
        assertThat(in.getLong(at + 32)).isEqualTo(nextBlock);
        for (int start = 0; start < run.length; start += BLOCK) {
          byte[] block = Arrays.copyOfRange(run, start, Math.min(run.length, start + BLOCK));
          assertThat(in.getInt(64 + 40 * runs + 4 * nextBlock))
              .isEqualTo(bound(field, 3, nextBlock, block));
          nextBlock++;
        }
      }
      for (int i = 0; i < count; i++, next++) {
        chunkIds[f][next] = chunk;
        offsets[f][next] = in.getLong(at + 16) + (long) i * width;
        byte[] value = Arrays.copyOfRange(run, i * width, (i + 1) * width);
        if (hasValidity && (valid[next / 8] >> (next % 8) & 1) == 0) {
          assertThat(value).containsOnly(0);
        } else {
          values[f][next] = value;
        }
      }
    }
    runCounts[f] = runs;
    assertThat(next).isEqualTo(recordCount);
    assertThat(nextBlock).isEqualTo(blocks);
    long absent = Arrays.stream(values[f]).filter(v -> v == null).count();
    assertThat(field.absentCount()).isEqualTo(absent);
    assertThat(hasValidity).isEqualTo(absent > 0);
    assertThat(field.valueBytes()).isEqualTo((long) width * next);
  }

  private void checkValidity(
      FieldMeta field, ByteBuffer in, int at, byte[] valid, boolean hasValidity) {
    assertThat(valid).hasSize(hasValidity ? (recordCount + 7) / 8 : 0);
    int count = meta.hasChecksums() ? (valid.length + BLOCK - 1) / BLOCK : 0;
    assertThat(in.getLong(48)).isEqualTo(count);
    for (int k = 0; k < count; k++) {
      byte[] block = Arrays.copyOfRange(valid, k * BLOCK, Math.min(valid.length, (k + 1) * BLOCK));
      assertThat(in.getInt(at + 4 * k)).isEqualTo(bound(field, 4, k, block));
    }
    int unused = -recordCount & 7;
    if (valid.length > 0 && unused > 0) {
      assertThat((valid[valid.length - 1] & 0xff) >> (8 - unused)).isZero();
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
    taken.forEach((chunk, intervals) -> {
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
    });
  }
}
