package io.zrecord.internal.table;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The quick reader of lists says what the parser says, or nothing. */
final class PlainShardsTest {
  private static final String RESOURCE = "list/x.json";

  private static List<ShardSummary> shards(Random random, int count) {
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      List<ChunkFile> chunks = new ArrayList<>();
      for (int k = random.nextInt(4); k > 0; k--) {
        chunks.add(ChunkFile.of(uuid(random), 64 + (random.nextLong() >>> 20)));
      }
      List<TablesRef> tables = new ArrayList<>();
      int id = 1;
      for (int k = random.nextInt(3); k > 0; k--) {
        long position = 64 + (random.nextLong() >>> 30);
        int jsonBytes = 1 + random.nextInt(10_000);
        List<Integer> fields = new ArrayList<>();
        for (int fieldCount = random.nextInt(4); fieldCount > 0; fieldCount--) {
          fields.add(id);
          id += 1 + random.nextInt(3);
        }
        tables.add(new TablesRef(
            uuid(random),
            position + jsonBytes + 16,
            position,
            jsonBytes,
            random.nextInt(),
            fields));
      }
      long bytes = chunks.stream().mapToLong(ChunkFile::bytes).sum();
      TreeMap<Integer, Long> values = new TreeMap<>();
      for (int k = random.nextInt(4); k > 0; k--) {
        values.put(1 + random.nextInt(30), bytes == 0 ? 0 : random.nextLong(bytes));
      }
      shards.add(
          new ShardSummary(uuid(random), 1 + (random.nextLong() >>> 34), chunks, tables, values));
    }
    return shards;
  }

  private static UUID uuid(Random random) {
    return new UUID(random.nextLong(), random.nextLong());
  }

  private static List<ShardSummary> parsed(byte[] file) {
    JsonObject json = SealedJson.open(RESOURCE, file).requireFormat();
    return ShardJson.readAll(json, FieldSets.read(json));
  }

  /** Seals a text anew. */
  private static byte[] sealed(byte[] file, int end) {
    String seal = ",\"crc32c\":\"" + HexFormat.of().toHexDigits(Crc32c.of(file, 0, end)) + "\"}\n";
    byte[] whole = java.util.Arrays.copyOf(file, end + seal.length());
    System.arraycopy(seal.getBytes(US_ASCII), 0, whole, end, seal.length());
    return whole;
  }

  @Test
  void whatThisReleaseWritesIsReadQuickly() {
    Random random = Budget.random();
    for (int count : new int[] {0, 1, 2, 50}) {
      List<ShardSummary> shards = shards(random, count);
      byte[] file = ShardListFile.writeFile(shards);
      assertThat(PlainShards.read(RESOURCE, file)).contains(shards);
      assertThat(parsed(file)).isEqualTo(shards);
    }
  }

  @Test
  void numbersOfMoreDigitsAreLeftToTheParser() {
    ShardSummary shard =
        new ShardSummary(new UUID(1, 2), Long.MAX_VALUE, List.of(), List.of(), new TreeMap<>());
    byte[] file = ShardListFile.writeFile(List.of(shard));
    assertThat(PlainShards.read(RESOURCE, file)).isEmpty();
    assertThat(parsed(file)).containsExactly(shard);
  }

  /** A byte is replaced, taken out or put in at a random place, and the file sealed again. */
  @Test
  void changedFilesAreReadAsTheParserReadsThem() {
    long seed = Budget.seed();
    Random random = Budget.random();
    int rounds = Math.max(2_000, Budget.of(30_000));
    int same = 0;
    int refused = 0;
    byte[] alphabet = "0123456789abcdef-,:[]{}\" \\x\t.Ee+".getBytes(US_ASCII);
    for (int round = 0; round < rounds; round++) {
      byte[] file = ShardListFile.writeFile(shards(random, 1 + random.nextInt(2)));
      int end = file.length - 22;
      int at = random.nextInt(end);
      byte other = alphabet[random.nextInt(alphabet.length)];
      switch (random.nextInt(4)) {
        case 0, 1 -> file[at] = other;
        case 2 -> System.arraycopy(file, at + 1, file, at, end-- - at - 1);
        default -> {
          System.arraycopy(file, at, file, at + 1, end++ - at);
          file[at] = other;
        }
      }
      byte[] changed = sealed(file, end);
      Optional<List<ShardSummary>> quick = PlainShards.read(RESOURCE, changed);
      Optional<List<ShardSummary>> slow;
      try {
        slow = Optional.of(parsed(changed));
      } catch (CorruptDataException | io.zrecord.errors.UnsupportedFormatException e) {
        slow = Optional.empty();
      }
      if (quick.isPresent()) {
        assertThat(quick).as("seed %d, round %d", seed, round).isEqualTo(slow);
        same++;
      } else {
        refused++;
      }
    }
    // A sixth is read quickly: of 2,000, fewer than 67 with a probability below 1e-50.
    assertThat(Map.of("same", same, "refused", refused).values())
        .allMatch(count -> count > rounds / 30);
  }
}
