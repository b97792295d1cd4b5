package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.US_ASCII;

import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads lists of shards that are written exactly as this release writes them, some ten times faster
 * than a parser of JSON: a table of a million shards has hundreds of megabytes of lists. Gives up
 * at the first byte that is unexpected, and at anything that {@link ShardJson} would refuse. Then
 * the parser decides. Belongs to one thread.
 */
final class PlainShards {
  private static final String SEAL = ",\"crc32c\":\"";
  private static final String SEAL_END = "\"}\n";

  /** What each byte means as a hexadecimal digit in lower case; negative if it is none. */
  private static final byte[] DIGITS = new byte[256];

  static {
    Arrays.fill(DIGITS, (byte) -1);
    for (int i = 0; i < 16; i++) {
      DIGITS["0123456789abcdef".charAt(i)] = (byte) i;
    }
  }

  private final byte[] json;
  private int at;

  private PlainShards(byte[] json) {
    this.json = json;
  }

  /** Says that a file is not as this release writes it. Control flow only. */
  private static final class NotPlainException extends RuntimeException {
    private static final long serialVersionUID = 1;

    NotPlainException() {
      super(null, null, false, false);
    }
  }

  /**
   * Reads the shards of a file.
   *
   * @param resource the file, for messages
   * @return empty if the parser has to read the file
   * @throws io.zrecord.errors.CorruptDataException if the seal does not hold
   */
  static Optional<List<ShardSummary>> read(String resource, byte[] file) {
    SealedJson.requireSeal(resource, file);
    try {
      return Optional.of(new PlainShards(file).readFile());
    } catch (NotPlainException e) {
      return Optional.empty();
    }
  }

  private List<ShardSummary> readFile() {
    expect("{\"format\":2,\"fieldSets\":[");
    FieldSets fieldSets = readFieldSets();
    expect(",\"shards\":[");
    List<ShardSummary> shards = new ArrayList<>();
    if (!skip(']')) {
      do {
        shards.add(readShard(fieldSets));
      } while (skip(','));
      expect("]");
    }
    expect(SEAL);
    hex(8);
    expect(SEAL_END);
    require(at == json.length);
    return shards;
  }

  private FieldSets readFieldSets() {
    FieldSets sets = new FieldSets();
    if (skip(']')) {
      return sets;
    }
    do {
      expect("[");
      List<Integer> set = new ArrayList<>();
      long last = 0;
      if (!skip(']')) {
        do {
          long id = number();
          require(id > last && id <= Integer.MAX_VALUE);
          set.add((int) id);
          last = id;
        } while (skip(','));
        expect("]");
      }
      sets.add(set);
    } while (skip(','));
    expect("]");
    return sets;
  }

  private ShardSummary readShard(FieldSets fieldSets) {
    expect("{\"uuid\":");
    UUID id = uuid();
    expect(",\"length\":");
    long length = number();
    require(length > 0);
    expect(",\"chunks\":[");
    List<ChunkFile> chunks = readChunks();
    expect(",\"tables\":[");
    List<TablesRef> tables = readTables(fieldSets);
    expect(",\"values\":[");
    SortedMap<Integer, Long> values = readValues(chunks);
    List<@Nullable String> partition = List.of();
    if (skip(',')) {
      expect("\"partition\":[");
      partition = readPartition();
    }
    expect("}");
    return new ShardSummary(id, length, chunks, tables, values, partition, null, "");
  }

  private List<ChunkFile> readChunks() {
    List<ChunkFile> chunks = new ArrayList<>();
    if (skip(']')) {
      return chunks;
    }
    do {
      expect("[");
      UUID id = uuid();
      expect(",");
      long bytes = number();
      require(bytes >= FileHeader.BYTES);
      expect("]");
      chunks.add(ChunkFile.of(id, bytes));
    } while (skip(','));
    expect("]");
    if (chunks.size() > 1) {
      Set<UUID> ids = new HashSet<>();
      chunks.forEach(chunk -> require(ids.add(chunk.id())));
    }
    return chunks;
  }

  private List<TablesRef> readTables(FieldSets fieldSets) {
    List<TablesRef> tables = new ArrayList<>();
    List<Integer> sets = new ArrayList<>();
    if (skip(']')) {
      return tables;
    }
    do {
      expect("[");
      UUID id = uuid();
      expect(",");
      long bytes = number();
      expect(",");
      long position = number();
      expect(",");
      long jsonBytes = number();
      expect(",\"");
      int checksum = (int) hex(8);
      expect("\",");
      long set = number();
      expect("]");
      require(position >= FileHeader.BYTES
          && position < Long.MAX_VALUE / 2
          && jsonBytes > 0
          && jsonBytes <= SealedJson.MAX_BYTES
          && bytes == position + jsonBytes + TablesTrailer.BYTES
          && set < fieldSets.count());
      sets.add((int) set);
      tables.add(
          new TablesRef(id, bytes, position, (int) jsonBytes, checksum, fieldSets.get((int) set)));
    } while (skip(','));
    expect("]");
    if (tables.size() > 1) {
      Set<UUID> ids = new HashSet<>();
      tables.forEach(file -> require(ids.add(file.id())));
      require(fieldSets.areDisjoint(sets));
    }
    return tables;
  }

  private SortedMap<Integer, Long> readValues(List<ChunkFile> chunks) {
    SortedMap<Integer, Long> values = new TreeMap<>();
    if (skip(']')) {
      return values;
    }
    long chunkBytes = 0;
    for (ChunkFile chunk : chunks) {
      chunkBytes += chunk.bytes();
      require(chunkBytes > 0);
    }
    do {
      expect("[");
      long id = number();
      expect(",");
      long bytes = number();
      expect("]");
      require(id > 0
          && id <= Integer.MAX_VALUE
          && bytes <= chunkBytes
          && values.put((int) id, bytes) == null);
    } while (skip(','));
    expect("]");
    return values;
  }

  private List<@Nullable String> readPartition() {
    List<@Nullable String> partition = new ArrayList<>();
    do {
      partition.add(textOrNull());
    } while (skip(','));
    expect("]");
    return partition;
  }

  /** Reads a string of ASCII characters without an escape, or the word {@code null}. */
  private @Nullable String textOrNull() {
    if (!skip('"')) {
      expect("null");
      return null;
    }
    int from = at;
    while (at < json.length && json[at] >= ' ' && json[at] != '"' && json[at] != '\\') {
      at++;
    }
    String text = new String(json, from, at - from, US_ASCII);
    expect("\"");
    return text;
  }

  private void expect(String text) {
    require(text.length() <= json.length - at);
    for (int i = 0; i < text.length(); i++) {
      require(json[at + i] == text.charAt(i));
    }
    at += text.length();
  }

  private boolean skip(char next) {
    boolean isNext = at < json.length && json[at] == next;
    at += isNext ? 1 : 0;
    return isNext;
  }

  /** Reads an integer of at most 18 digits, written without a zero in front. */
  private long number() {
    int from = at;
    long number = 0;
    while (at < json.length && json[at] >= '0' && json[at] <= '9' && at - from < 18) {
      number = number * 10 + (json[at++] - '0');
    }
    require(at > from && (at == from + 1 || json[from] != '0'));
    return number;
  }

  private UUID uuid() {
    expect("\"");
    long high = hex(8);
    expect("-");
    high = high << 16 | hex(4);
    expect("-");
    high = high << 16 | hex(4);
    expect("-");
    long low = hex(4);
    expect("-");
    low = low << 48 | hex(12);
    expect("\"");
    return new UUID(high, low);
  }

  /** Reads some digits of a hexadecimal number, in lower case. */
  private long hex(int digits) {
    require(digits <= json.length - at);
    long number = 0;
    int all = 0;
    for (int i = at; i < at + digits; i++) {
      int digit = DIGITS[json[i] & 0xff];
      all |= digit;
      number = number << 4 | digit;
    }
    require(all >= 0);
    at += digits;
    return number;
  }

  private static void require(boolean isPlain) {
    if (!isPlain) {
      throw new NotPlainException();
    }
  }
}
