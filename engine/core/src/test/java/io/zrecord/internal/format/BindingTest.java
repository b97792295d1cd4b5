package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.testing.BindingProbe;
import io.zrecord.testing.Budget;
import io.zrecord.testing.Repository;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Bound checksums: those of the page and those of an independent computation. */
class BindingTest {
  private static final Path PAGE = Repository.path("docs/spec/FORMAT.md");
  private static final Pattern EXAMPLE =
      Pattern.compile("(?m)^\\| (\\d+) \\| (\\d+) \\| (\\d+) \\| (?:`(\\p{XDigit}+)`)? *"
          + "\\| `(\\p{XDigit}{8})` \\| `(\\p{XDigit}{8})` \\| `(\\p{XDigit}{8})` \\|$");
  private static final Pattern UUID_OF_EXAMPLES =
      Pattern.compile("Examples for the uuid `([-0-9a-f]{36})`");
  private static final Map<Kind, Integer> CODES = new EnumMap<>(Map.ofEntries(
      Map.entry(Kind.VALUE, 1),
      Map.entry(Kind.ABSENT, 2),
      Map.entry(Kind.BLOCK, 3),
      Map.entry(Kind.VALIDITY, 4),
      Map.entry(Kind.RUNS, 5),
      Map.entry(Kind.OFFSETS, 6),
      Map.entry(Kind.STATISTICS, 7),
      Map.entry(Kind.DELETED, 9),
      Map.entry(Kind.CHANGED, 10),
      Map.entry(Kind.JOURNAL_RECORD, 11),
      Map.entry(Kind.CHECKSUMS, 12),
      Map.entry(Kind.DELETED_SINCE, 13),
      Map.entry(Kind.CHANGED_SINCE, 14),
      Map.entry(Kind.ORIGINS, 15)));

  @Test
  void theExamplesOfThePageHold() throws IOException {
    String page = Files.readString(PAGE);
    var uuid = UUID_OF_EXAMPLES.matcher(page);
    assertThat(uuid.find()).isTrue();
    UUID owner = UUID.fromString(uuid.group(1));
    List<MatchResult> examples = EXAMPLE.matcher(page).results().toList();
    assertThat(examples).hasSize(6);
    for (MatchResult example : examples) {
      int code = Integer.parseInt(example.group(2));
      Kind kind =
          CODES.keySet().stream().filter(k -> CODES.get(k) == code).findFirst().orElseThrow();
      String hex = example.group(4);
      byte[] bytes = HexFormat.of().parseHex(hex == null ? "" : hex);
      long unit = Long.parseLong(example.group(3));
      Binding binding = new Binding(owner, Integer.parseInt(example.group(1)));
      assertThat(hex(Crc32c.of(bytes))).isEqualTo(example.group(5));
      assertThat(hex(binding.bind(kind, unit, 0))).isEqualTo(example.group(6));
      assertThat(hex(binding.bind(kind, unit, Crc32c.of(bytes)))).isEqualTo(example.group(7));
    }
  }

  private static String hex(int word) {
    return HexFormat.of().toHexDigits(word);
  }

  @Test
  void bindingIsExclusiveOrWithTheCrcOfTheBinding() {
    assertThat(CODES).containsOnlyKeys(Kind.values());
    List<Kind> kinds = List.of(Kind.values());
    Random random = Budget.random();
    for (int i = Budget.of(100_000); i > 0; i--) {
      UUID owner = new UUID(random.nextLong(), random.nextLong());
      int field = random.nextInt();
      Kind kind = kinds.get(random.nextInt(kinds.size()));
      long unit = random.nextLong() >>> random.nextInt(Long.SIZE);
      int crc = random.nextInt();
      assertThat(new Binding(owner, field).bind(kind, unit, crc))
          .isEqualTo(crc ^ BindingProbe.crcOfBinding(owner, field, CODES.get(kind), unit));
    }
  }

  @Test
  void rebindEqualsComputingAgain() {
    Random random = Budget.random();
    Binding binding = new Binding(UUID.randomUUID(), 7);
    for (int i = Budget.of(100_000); i > 0; i--) {
      long from = random.nextLong() >>> random.nextInt(Long.SIZE);
      long to = random.nextLong() >>> random.nextInt(Long.SIZE);
      int crc = random.nextInt();
      for (Kind kind : Kind.values()) {
        assertThat(Binding.rebind(from, to, binding.bind(kind, from, crc)))
            .isEqualTo(binding.bind(kind, to, crc));
      }
    }
  }

  @Test
  void anEntryIsAValueOrAbsent() {
    Binding binding = new Binding(new UUID(1, 2), 3);
    assertThat(binding.bindEntry(5, 64, 0, 17)).isEqualTo(binding.bind(Kind.VALUE, 5, 17));
    assertThat(binding.bindEntry(5, 0, 1L << 32, 17)).isEqualTo(binding.bind(Kind.VALUE, 5, 17));
    assertThat(binding.bindEntry(5, 0, 0, 0)).isEqualTo(binding.bind(Kind.ABSENT, 5, 0));
  }

  /** Fields, kinds and shards near to each other, and a million units. */
  @Test
  void noTwoPlacesNearToEachOtherHaveTheSameChecksum() {
    Set<Integer> sums = new HashSet<>();
    Binding binding = new Binding(new UUID(1, 2), 3);
    for (int unit = 0; unit < 1_000_000; unit++) {
      assertThat(sums.add(binding.bind(Kind.VALUE, unit, 0))).isTrue();
    }
    sums.clear();
    int count = 0;
    for (long low = 0; low < 4; low++) {
      for (int field = 0; field < 64; field++) {
        for (Kind kind : Kind.values()) {
          for (long unit = 0; unit < 16; unit++) {
            sums.add(new Binding(new UUID(1, low), field).bind(kind, unit, 0));
            count++;
          }
        }
      }
    }
    assertThat(sums).hasSize(count);
  }

  /** A record of a journal counts only in its store, and with its number. */
  @Test
  void aRecordOfAnotherStoreIsNotWhole() {
    Binding store = new Binding(new UUID(1, 2), 0);
    Binding another = new Binding(new UUID(1, 3), 0);
    byte[] record = record(store);
    assertThat(read(record, store)).isNotNull();
    assertThat(read(record, another)).isNull();
    byte[] ofAnother = record(another);
    assertThat(read(ofAnother, another)).as("control").isNotNull();
    System.arraycopy(record, 20, ofAnother, 20, Integer.BYTES);
    assertThat(ofAnother).as("no other difference").isEqualTo(record);
  }

  private static byte[] record(Binding binding) {
    JournalRecord.Encoder encoder = new JournalRecord.Encoder(binding);
    encoder.begin(5, 0, 1, 1, 0, 1);
    encoder.slot(0);
    encoder.entry(0, 0, 9);
    ByteBuffer bytes = encoder.end(encoder.bytes());
    byte[] record = new byte[bytes.remaining()];
    bytes.get(record);
    return record;
  }

  private static JournalRecord read(byte[] record, Binding binding) {
    return JournalRecord.read(
        (at, target) -> {
          int count = Math.min(target.remaining(), record.length - (int) at);
          target.put(record, (int) at, count);
          return count;
        },
        0,
        record.length,
        binding);
  }
}
