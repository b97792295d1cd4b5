package io.zrecord;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.testing.BindingProbe;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Exchanges units of a table or store, together with their checksums. Readers and checks find each
 * exchange. As a control, the checksums are bound to the new places: then the same exchange is a
 * wrong value, and nothing finds it.
 */
final class SwappedUnitsTest {
  private static final int RECORDS = 40_000;
  private static final int BLOCK = 65_536;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("a", ElementType.BYTES)
      .field("b", ElementType.BYTES)
      .field("i", ElementType.I32)
      .field("u", ElementType.U32)
      .build();

  @TempDir
  private static Path original;

  private static Path table;
  private static Path store;

  @TempDir
  Path directory;

  /** Whether an exchange binds the checksums to the new places. */
  private enum Bound {
    AS_THEY_WERE,
    AGAIN
  }

  private interface Exchange {
    void of(Path dataset, Bound bound);
  }

  /** Which field of which shard a checksum is bound to. */
  private record Owner(UUID shard, int field) {
    /** Returns what changes a checksum of this field to one of another field. */
    int difference(Owner other, int kind, long unit) {
      return crc(kind, unit) ^ other.crc(kind, unit);
    }

    int crc(int kind, long unit) {
      return BindingProbe.crcOfBinding(shard, field, kind, unit);
    }
  }

  @BeforeAll
  static void write() {
    table = original.resolve("table");
    for (int shard = 0; shard < 2; shard++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(table, SCHEMA, WriteOptions.defaults())) {
        RecordAppender records = writer.newAppender();
        for (int k = 0; k < RECORDS; k++) {
          int number = shard * RECORDS + k;
          if (k % 16 != 5) {
            records.set("a", text("a", number)).set("b", text("b", number));
          }
          if (k % 16 != 3) {
            records.set("i", number);
          }
          if (k % 16 != 4) {
            records.set("u", number + 1_000_000);
          }
          records.endRecord();
        }
        writer.commit();
      }
    }
    store = original.resolve("store");
    RecordSchema schema = RecordSchema.builder().field("a", ElementType.BYTES).build();
    try (RecordStore open = RecordStore.create(store, schema, StoreOptions.defaults())) {
      for (int k = 0; k < 16; k++) {
        open.append(open.newValues().set("a", text("a", k)));
      }
    }
  }

  /** All of one length, except empty ones. */
  private static byte[] text(String field, int number) {
    return number % 16 == 6
        ? new byte[0]
        : String.format("%s%07d", field, number).getBytes(UTF_8);
  }

  @AfterEach
  void forgetShards() {
    OpenShards.shared().clear();
  }

  @Test
  void twoEntriesOfAField() {
    Exchange exchange = (dataset, bound) -> exchangeEntries(shards(dataset).get(0), 1, 2, 9, bound);
    isFound(table, exchange, "a", 2, "a0000009");
    isFound(table, exchange, "a", 9, "a0000002");
  }

  @Test
  void aValueAndAnAbsentOne() {
    isFound(
        table,
        (dataset, bound) -> exchangeEntries(shards(dataset).get(0), 1, 2, 5, bound),
        "a",
        2,
        null);
  }

  /** An empty value has as many bytes as an absent one. */
  @Test
  void anEmptyValueWhoseEntryIsZeroed() {
    Exchange zeroed = (dataset, bound) -> {
      Path shard = shards(dataset).get(0);
      change(shard.resolve("a.offset"), entries -> entries.putLong(96, 0).putLong(104, 0));
      if (bound == Bound.AGAIN) {
        int crc = new Owner(uuid(shard), 1).crc(2, 6);
        change(shard.resolve("a.crc32c"), checksums -> checksums.putInt(24, crc));
      }
    };
    Path copy = copy(table, zeroed, Bound.AS_THEY_WERE);
    assertThat(read(table, "a", 6)).isEmpty();
    assertThatThrownBy(() -> read(copy, "a", 6)).isInstanceOf(CorruptDataException.class);
    assertThat(read(copy(table, zeroed, Bound.AGAIN), "a", 6)).as("control").isNull();
  }

  @Test
  void theTablesOfTwoFieldsOfOneType() {
    isFound(
        table,
        (dataset, bound) -> {
          Path shard = shards(dataset).get(0);
          exchangeFiles(shard.resolve("a.offset"), shard.resolve("b.offset"));
          exchangeFiles(shard.resolve("a.crc32c"), shard.resolve("b.crc32c"));
          if (bound == Bound.AGAIN) {
            Owner a = new Owner(uuid(shard), 1);
            Owner b = new Owner(uuid(shard), 2);
            rebindEntries(shard, "a", b, a);
            rebindEntries(shard, "b", a, b);
          }
        },
        "a",
        1,
        "b0000001");
  }

  @Test
  void theRunsAndPresenceBitsOfTwoFieldsOfOneWidth() {
    isFound(
        table,
        (dataset, bound) -> {
          Path shard = shards(dataset).get(0);
          exchangeFiles(shard.resolve("i.runs"), shard.resolve("u.runs"));
          exchangeFiles(shard.resolve("i.valid"), shard.resolve("u.valid"));
          if (bound == Bound.AGAIN) {
            Owner i = new Owner(uuid(shard), 3);
            Owner u = new Owner(uuid(shard), 4);
            rebindRuns(shard.resolve("i.runs"), u, i);
            rebindRuns(shard.resolve("u.runs"), i, u);
          }
        },
        "i",
        17,
        number(1_000_017));
  }

  /** Also with a checksum of the file that holds. */
  @Test
  void theBlockChecksumsOfTwoFieldsOfOneWidth() {
    Path copy = copy(
        table,
        (dataset, bound) -> {
          Path shard = shards(dataset).get(0);
          exchangeFiles(shard.resolve("i.runs"), shard.resolve("u.runs"));
          exchangeFiles(shard.resolve("i.valid"), shard.resolve("u.valid"));
          seal(shard.resolve("i.runs"), new Owner(uuid(shard), 3));
          seal(shard.resolve("u.runs"), new Owner(uuid(shard), 4));
        },
        Bound.AS_THEY_WERE);
    assertThatThrownBy(() -> read(copy, "i", 17)).isInstanceOf(CorruptDataException.class);
    assertThat(damages(copy)).anyMatch(f -> f.kind() == Finding.Kind.PRESENCE);
    assertThat(damages(copy)).anyMatch(f -> f.kind() == Finding.Kind.VALUE);
  }

  @Test
  void twoBlocksOfARun() {
    isFound(
        table,
        (dataset, bound) -> {
          Path shard = shards(dataset).get(0);
          Path runs = shard.resolve("i.runs");
          ByteBuffer file = ByteBuffer.wrap(bytes(runs)).order(ByteOrder.LITTLE_ENDIAN);
          assertThat(file.getInt(28)).as("one run").isOne();
          int run = (int) file.getLong(64 + 16);
          change(shard.resolve("chunk/0.zr"), chunk -> exchange(chunk, run, run + BLOCK, BLOCK));
          Owner owner = new Owner(uuid(shard), 3);
          int difference = bound == Bound.AGAIN ? owner.crc(3, 0) ^ owner.crc(3, 1) : 0;
          change(runs, words -> {
            int first = words.getInt(104);
            words.putInt(104, words.getInt(108) ^ difference).putInt(108, first ^ difference);
          });
          seal(runs, owner);
        },
        "i",
        0,
        number(BLOCK / 4));
  }

  @Test
  void allOfTwoShards() {
    isFound(
        table,
        (dataset, bound) -> {
          Path one = shards(dataset).get(0);
          Path two = shards(dataset).get(1);
          for (String field : List.of("a", "b")) {
            exchangeFiles(one.resolve(field + ".offset"), two.resolve(field + ".offset"));
            exchangeFiles(one.resolve(field + ".crc32c"), two.resolve(field + ".crc32c"));
          }
          for (String field : List.of("i", "u")) {
            exchangeFiles(one.resolve(field + ".runs"), two.resolve(field + ".runs"));
            exchangeFiles(one.resolve(field + ".valid"), two.resolve(field + ".valid"));
          }
          byte[] header = bytes(one.resolve("chunk/0.zr"));
          byte[] another = bytes(two.resolve("chunk/0.zr"));
          exchangeFiles(one.resolve("chunk/0.zr"), two.resolve("chunk/0.zr"));
          change(one.resolve("chunk/0.zr"), chunk -> chunk.put(0, header, 0, 64));
          change(two.resolve("chunk/0.zr"), chunk -> chunk.put(0, another, 0, 64));
          if (bound == Bound.AGAIN) {
            rebindShard(one, uuid(two), uuid(one));
            rebindShard(two, uuid(one), uuid(two));
          }
        },
        "a",
        1,
        text(read(table, "a", RECORDS + 1)));
  }

  private static void rebindShard(Path shard, UUID from, UUID to) {
    rebindEntries(shard, "a", new Owner(from, 1), new Owner(to, 1));
    rebindEntries(shard, "b", new Owner(from, 2), new Owner(to, 2));
    rebindRuns(shard.resolve("i.runs"), new Owner(from, 3), new Owner(to, 3));
    rebindRuns(shard.resolve("u.runs"), new Owner(from, 4), new Owner(to, 4));
  }

  @Test
  void twoEntriesOfAStore() {
    Exchange exchange = (dataset, bound) -> exchangeEntries(dataset, 1, 2, 9, bound);
    isFound(store, exchange, "a", 2, "a0000009");
  }

  /**
   * Requires that an exchange is found, and that it is a wrong value in the control.
   *
   * @param wrong what the control reads
   */
  private void isFound(
      Path dataset, Exchange exchange, String field, long index, @Nullable String wrong) {
    Path found = copy(dataset, exchange, Bound.AS_THEY_WERE);
    assertThatThrownBy(() -> read(found, field, index)).isInstanceOf(CorruptDataException.class);
    assertThat(damages(found)).isNotEmpty();
    Path control = copy(dataset, exchange, Bound.AGAIN);
    byte[] value = read(control, field, index);
    assertThat(value == null ? null : text(value)).as("control").isEqualTo(wrong);
    assertThat(value).as("control").isNotEqualTo(read(dataset, field, index));
    assertThat(damages(control)).as("control").isEmpty();
  }

  private static String text(byte @Nullable [] value) {
    byte[] present = java.util.Objects.requireNonNull(value);
    return present.length == 4 ? HexFormat.of().formatHex(present) : new String(present, UTF_8);
  }

  private static String number(int value) {
    return text(
        ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(value).array());
  }

  private Path copy(Path dataset, Exchange exchange, Bound bound) {
    try {
      Path copy =
          Damage.copy(dataset, Files.createTempDirectory(directory, "copy").resolve("dataset"));
      exchange.of(copy, bound);
      return copy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static byte @Nullable [] read(Path dataset, String field, long index) {
    long[] indices = {index};
    OpenShards.shared().clear();
    if (RecordStore.exists(dataset)) {
      try (RecordStore open = RecordStore.open(dataset, StoreOptions.defaults());
          Batch batch = open.gather(indices, field)) {
        return batch.isAbsent(field, 0) ? null : batch.bytes(field, 0);
      }
    }
    try (RecordDataset open = RecordDataset.open(dataset);
        Batch batch = open.gather(indices, field)) {
      return batch.isAbsent(field, 0) ? null : batch.bytes(field, 0);
    }
  }

  private static List<Finding> damages(Path dataset) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(dataset).run(findings::add);
    return findings.stream().filter(finding -> finding.kind().isDamage()).toList();
  }

  /** Returns the directories of the shards in the order of the records. */
  private static List<Path> shards(Path dataset) {
    try (Stream<Path> found = Files.list(dataset.resolve("shard"))) {
      List<Path> shards = found.toList();
      return isFirst(shards.get(0)) ? shards : List.of(shards.get(1), shards.get(0));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static boolean isFirst(Path shard) {
    return new String(bytes(shard.resolve("chunk/0.zr")), UTF_8).contains("a0000001");
  }

  private static UUID uuid(Path shard) {
    // The header of a chunk has the uuid of its shard or store.
    ByteBuffer header = ByteBuffer.wrap(bytes(shard.resolve("chunk/0.zr")));
    return new UUID(header.getLong(24), header.getLong(32));
  }

  private static void exchangeEntries(Path shard, int field, int one, int two, Bound bound) {
    change(shard.resolve("a.offset"), file -> exchange(file, 16 * one, 16 * two, 16));
    change(shard.resolve("a.crc32c"), file -> exchange(file, 4 * one, 4 * two, 4));
    if (bound == Bound.AGAIN) {
      Owner owner = new Owner(uuid(shard), field);
      ByteBuffer entries = ByteBuffer.wrap(bytes(shard.resolve("a.offset")));
      change(shard.resolve("a.crc32c"), file -> {
        int kindOfOne = kind(entries, one);
        int kindOfTwo = kind(entries, two);
        int changeOfOne = owner.crc(kindOfOne, two) ^ owner.crc(kindOfOne, one);
        int changeOfTwo = owner.crc(kindOfTwo, one) ^ owner.crc(kindOfTwo, two);
        file.putInt(4 * one, file.getInt(4 * one) ^ changeOfOne);
        file.putInt(4 * two, file.getInt(4 * two) ^ changeOfTwo);
      });
    }
  }

  private static int kind(ByteBuffer entries, int i) {
    return (entries.getLong(16 * i) | entries.getLong(16 * i + 8)) == 0 ? 2 : 1;
  }

  private static void rebindEntries(Path shard, String stem, Owner from, Owner to) {
    ByteBuffer entries = ByteBuffer.wrap(bytes(shard.resolve(stem + ".offset")));
    change(shard.resolve(stem + ".crc32c"), file -> {
      for (int i = 0; i < RECORDS; i++) {
        int change = from.difference(to, kind(entries, i), i);
        file.putInt(4 * i, file.getInt(4 * i) ^ change);
      }
    });
  }

  private static void rebindRuns(Path runs, Owner from, Owner to) {
    change(runs, file -> {
      int at = 64 + 40 * file.getInt(28);
      int blocks = (int) file.getLong(40);
      for (int k = 0; k < blocks; k++, at += 4) {
        file.putInt(at, file.getInt(at) ^ from.difference(to, 3, k));
      }
      for (int k = 0; k < file.getLong(48); k++, at += 4) {
        file.putInt(at, file.getInt(at) ^ from.difference(to, 4, k));
      }
    });
    seal(runs, to);
  }

  /** Writes the checksum of a file of runs again. */
  private static void seal(Path runs, Owner owner) {
    byte[] file = bytes(runs);
    byte[] before = java.util.Arrays.copyOf(file, file.length - 4);
    int checksum = BindingProbe.crc(before) ^ owner.crc(5, 0);
    change(runs, words -> words.putInt(before.length, checksum));
  }

  private static void exchange(ByteBuffer file, int one, int two, int length) {
    for (int i = 0; i < length; i++) {
      byte kept = file.get(one + i);
      file.put(one + i, file.get(two + i)).put(two + i, kept);
    }
  }

  private static void exchangeFiles(Path one, Path two) {
    byte[] kept = bytes(one);
    write(one, bytes(two));
    write(two, kept);
  }

  private interface Change {
    void of(ByteBuffer file);
  }

  private static void change(Path file, Change change) {
    byte[] content = bytes(file);
    change.of(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN));
    write(file, content);
  }

  private static byte[] bytes(Path file) {
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
