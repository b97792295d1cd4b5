package io.zrecord.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.BindingProbe;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ShardEditor;
import io.zrecord.testing.ShardOnDisk;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Exchanges units of a table or store, together with their checksums. Readers and checks find each
 * exchange, also if the checksums of the tables around the units hold. As a control, all checksums
 * are bound to the new places: then the same exchange is a wrong value, and nothing but statistics
 * finds it.
 */
final class SwappedUnitsTest {
  /** Two units of presence bits. */
  private static final int RECORDS = 65_536;

  private static final int UNIT = 4_096;
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("a", ElementType.BYTES)
      .field("b", ElementType.BYTES)
      .field("i", ElementType.I32)
      .field("u", ElementType.U32)
      .build();

  @TempDir(factory = DirectoryInMemory.class)
  private static Path original;

  private static Path table;
  private static Path store;

  /** A snapshot of a store, whose values have entries. */
  private static Path entries;

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  /** Which checksums hold after an exchange. */
  private enum Bound {
    NONE,
    /** Those of tables, that is of lists, of entries, of presence bits and of checksums. */
    OF_TABLES,
    ALL
  }

  private interface Exchange {
    void of(Path dataset, Bound bound);
  }

  @BeforeAll
  static void write() {
    table = original.resolve("table");
    for (int shard = 0; shard < 2; shard++) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.append(table.toString(), SCHEMA, WriteOptions.defaults())) {
        RecordAppender records = writer.newAppender();
        for (int k = 0; k < RECORDS; k++) {
          int number = shard * RECORDS + k;
          // In each half of a shard, other numbers of one of the two fields are absent.
          int half = k / (RECORDS / 2);
          if (k % 16 != 5) {
            records.set("a", text("a", number)).set("b", text("b", number));
          }
          if (k % 16 != 3 + half) {
            records.set("i", number);
          }
          if (k % 16 != 4 - half) {
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
    Path larger = original.resolve("larger");
    entries = original.resolve("entries");
    try (RecordStore open = RecordStore.create(larger, schema, StoreOptions.defaults())) {
      for (int k = 0; k < 2 * EntryUnits.UNIT_SLOTS; k++) {
        open.append(k % 16 == 5 ? open.newValues() : open.newValues().set("a", text("a", k)));
      }
      open.commit();
      StoreSnapshot.create(larger, entries);
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

  /** Makes an exchange in the first shard. */
  private static Exchange inOneShard(Consumer<ShardEditor> change, Integer... fields) {
    return (dataset, bound) -> {
      ShardEditor shard = shards(dataset).get(0);
      change.accept(shard);
      bind(shard, bound, fields);
      shard.write();
    };
  }

  private static void bind(ShardEditor shard, Bound bound, Integer... fields) {
    for (int field : fields) {
      if (bound == Bound.ALL) {
        shard.sealValues(field);
      }
      if (bound != Bound.NONE) {
        shard.sealTables(field);
      }
    }
  }

  private static void exchangeEntries(ShardEditor shard, int one, int two) {
    ShardOnDisk places = shard.places();
    ShardEditor.exchange(shard.tables(), places.placeAt(1, one), places.placeAt(1, two), 16);
    ShardEditor.exchange(shard.tables(), places.checksumAt(1, one), places.checksumAt(1, two), 4);
  }

  @Test
  void twoEntriesOfAField() {
    Exchange exchange = inOneShard(shard -> exchangeEntries(shard, 2, 9), 1);
    isFound(entries, exchange, "a", 2, "a0000009");
    isFound(entries, exchange, "a", 9, "a0000002");
  }

  @Test
  void aValueAndAnAbsentOne() {
    isFound(entries, inOneShard(shard -> exchangeEntries(shard, 2, 5), 1), "a", 2, null);
  }

  /** An empty value has as many bytes as an absent one. */
  @Test
  void anEmptyValueWhoseEntryIsZeroed() {
    Exchange zeroed = inOneShard(
        shard -> {
          int at = (int) shard.places().placeAt(1, 6);
          shard.tables().putLong(at, 0).putLong(at + 8, 0);
        },
        1);
    assertThat(read(entries, "a", 6)).isEmpty();
    for (Bound bound : List.of(Bound.NONE, Bound.OF_TABLES)) {
      Path copy = copy(entries, zeroed, bound);
      assertThatThrownBy(() -> read(copy, "a", 6)).isInstanceOf(CorruptDataException.class);
    }
    assertThat(read(copy(entries, zeroed, Bound.ALL), "a", 6)).as("control").isNull();
  }

  @Test
  void twoUnitsOfEntries() {
    int slots = EntryUnits.UNIT_SLOTS;
    Exchange exchange = inOneShard(
        shard -> ShardEditor.exchange(
            shard.tables(),
            shard.places().placeAt(1, 0),
            shard.places().placeAt(1, slots),
            EntryUnits.paddedBytes(slots)),
        1);
    isFound(entries, exchange, "a", 1, text(text("a", slots + 1)));
  }

  @Test
  void twoUnitsOfAVariableRun() {
    Exchange exchange = inOneShard(
        shard -> {
          ShardOnDisk places = shard.places();
          int values = places.unitValues(1, 0);
          long one = places.offset(1, 0);
          int bytes = (int) (places.offset(1, values) - one);
          ShardEditor.exchange(shard.chunk(0), one, one + bytes, bytes);
          ShardEditor.exchange(
              shard.tables(), places.checksumAt(1, 0), places.checksumAt(1, values), 4);
        },
        1);
    isFound(table, exchange, "a", 1, "a0000513");
  }

  /** Blocks have ends of their own, so the order of the bases shows even if all checksums hold. */
  @Test
  void twoBlocksOfAVariableRun() {
    Exchange exchange = inOneShard(
        shard -> {
          long one = shard.places().placeAt(1, 0) - 8;
          long two = shard.places().placeAt(1, 1024) - 8;
          ShardEditor.exchange(shard.tables(), one, two, (int) (two - one));
        },
        1);
    for (Bound bound : List.of(Bound.NONE, Bound.OF_TABLES)) {
      Path found = copy(table, exchange, bound);
      assertThatThrownBy(() -> read(found, "a", 1))
          .as("%s", bound)
          .isInstanceOf(CorruptDataException.class);
      assertThat(damages(found)).as("%s", bound).isNotEmpty();
    }
    Path control = copy(table, exchange, Bound.ALL);
    assertThat(text(read(control, "a", 1))).as("control").isEqualTo("a0001025");
    assertThat(damages(control)).extracting(Finding::kind).containsOnly(Finding.Kind.ENTRY_FILE);
  }

  @Test
  void theTablesOfTwoFieldsOfOneType() {
    isFound(table, inOneShard(shard -> shard.exchangeFields(1, 2), 1, 2), "a", 1, "b0000001");
  }

  @Test
  void theTablesOfTwoFieldsOfOneWidth() {
    Exchange exchange = inOneShard(shard -> shard.exchangeFields(3, 4), 3, 4);
    isFound(table, exchange, "i", 17, number(1_000_017));
    Path copy = copy(table, exchange, Bound.NONE);
    assertThat(damages(copy)).extracting(Finding::kind).contains(Finding.Kind.RUNS);
    Path sealed = copy(table, exchange, Bound.OF_TABLES);
    assertThat(damages(sealed)).extracting(Finding::kind).containsOnly(Finding.Kind.VALUE);
  }

  @Test
  void twoUnitsOfARun() {
    Exchange exchange = inOneShard(
        shard -> {
          assertThat(shard.places().runCount(3)).as("runs").isOne();
          long run = shard.places().runOffset(3, 0);
          ShardEditor.exchange(shard.chunk(0), run, run + UNIT, UNIT);
          long checksums = shard.places().field(3).units().position();
          ShardEditor.exchange(shard.tables(), checksums, checksums + 4, 4);
        },
        3);
    isFound(table, exchange, "i", 0, number(UNIT / 4));
  }

  /** Bits have no checksums but those of their units. */
  @Test
  void twoUnitsOfPresenceBits() {
    Exchange exchange = inOneShard(
        shard -> {
          long bits = shard.places().field(3).validity().position();
          ShardEditor.exchange(shard.tables(), bits, bits + UNIT + 8, UNIT + 8);
        },
        3);
    Path copy = copy(table, exchange, Bound.NONE);
    assertThatThrownBy(() -> read(copy, "i", 4)).isInstanceOf(CorruptDataException.class);
    assertThat(damages(copy)).extracting(Finding::kind).containsOnly(Finding.Kind.PRESENCE);
    Path control = copy(table, exchange, Bound.OF_TABLES);
    assertThat(read(table, "i", 4)).isNotNull();
    assertThat(read(control, "i", 4)).as("control").isNull();
  }

  @Test
  void thePresenceBitsOfTwoFields() {
    Exchange exchange = inOneShard(
        shard -> {
          Section one = shard.places().field(3).validity();
          Section two = shard.places().field(4).validity();
          ShardEditor.exchange(shard.tables(), one.position(), two.position(), (int) one.bytes());
        },
        3,
        4);
    Path copy = copy(table, exchange, Bound.NONE);
    assertThatThrownBy(() -> read(copy, "i", 4)).isInstanceOf(CorruptDataException.class);
    assertThat(damages(copy)).extracting(Finding::kind).containsOnly(Finding.Kind.PRESENCE);
    Path control = copy(table, exchange, Bound.OF_TABLES);
    assertThat(read(control, "i", 4)).as("control").isNull();
  }

  /** A group has the checksums of 1,024 units. */
  @Test
  void twoGroupsOfUnitsOfARun() {
    Path large = directory.resolve("large");
    int groupValues = 1_024 * UNIT / 4;
    RecordSchema schema = RecordSchema.builder().field("i", ElementType.I32).build();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(large.toString(), schema, WriteOptions.defaults())) {
      RecordAppender records = writer.newAppender();
      for (int k = 0; k < 2 * groupValues; k++) {
        records.set("i", k).endRecord();
      }
      writer.commit();
    }
    Consumer<ShardEditor> change = shard -> {
      assertThat(shard.places().runCount(1)).as("runs").isOne();
      long run = shard.places().runOffset(1, 0);
      ShardEditor.exchange(shard.chunk(0), run, run + 1_024 * UNIT, 1_024 * UNIT);
      long checksums = shard.places().field(1).units().position();
      ShardEditor.exchange(shard.tables(), checksums, checksums + 4_100, 4_100);
    };
    isFound(large, inOneShard(change, 1), "i", 7, number(groupValues + 7));
    // The checksums of the units hold, but not those of the groups.
    Exchange values = inOneShard(change.andThen(shard -> shard.sealValues(1)), 1);
    Path copy = copy(large, values, Bound.NONE);
    assertThatThrownBy(() -> read(copy, "i", 7)).isInstanceOf(CorruptDataException.class);
    assertThat(damages(copy)).extracting(Finding::kind).containsOnly(Finding.Kind.RUNS);
  }

  @Test
  void allOfTwoShards() {
    isFound(
        table,
        (dataset, bound) -> {
          ShardEditor one = shards(dataset).get(0);
          ShardEditor two = shards(dataset).get(1);
          one.takeAll(two);
          two.takeAll(shards(dataset).get(0));
          bind(one, bound, 1, 2, 3, 4);
          bind(two, bound, 1, 2, 3, 4);
          one.write();
          two.write();
        },
        "a",
        1,
        text(read(table, "a", RECORDS + 1)));
  }

  @Test
  void twoEntriesOfAStore() {
    Exchange exchange = (dataset, bound) -> {
      change(dataset.resolve("a.offset"), file -> ShardEditor.exchange(file, 32, 144, 16));
      change(dataset.resolve("a.crc32c"), file -> {
        int one = bound == Bound.ALL ? moved(dataset, 9, 2) : 0;
        int two = bound == Bound.ALL ? moved(dataset, 2, 9) : 0;
        ShardEditor.exchange(file, 8, 36, 4);
        file.putInt(8, file.getInt(8) ^ one).putInt(36, file.getInt(36) ^ two);
      });
    };
    isFound(store, exchange, "a", 2, "a0000009");
  }

  /** Returns how the checksum of a value in a store changes with the slot. */
  private static int moved(Path dataset, int from, int to) {
    // The header of a chunk has the uuid of its store.
    ByteBuffer header = ByteBuffer.wrap(bytes(dataset.resolve("chunk/0.zr")));
    UUID id = new UUID(header.getLong(24), header.getLong(32));
    return BindingProbe.crcOfBinding(id, 1, 1, from) ^ BindingProbe.crcOfBinding(id, 1, 1, to);
  }

  /**
   * Requires that an exchange is found, and that it is a wrong value in the control.
   *
   * @param wrong what the control reads
   */
  private void isFound(
      Path dataset, Exchange exchange, String field, long index, @Nullable String wrong) {
    for (Bound bound : List.of(Bound.NONE, Bound.OF_TABLES)) {
      Path found = copy(dataset, exchange, bound);
      assertThatThrownBy(() -> read(found, field, index))
          .as("%s", bound)
          .isInstanceOf(CorruptDataException.class);
      assertThat(damages(found)).as("%s", bound).isNotEmpty();
    }
    Path control = copy(dataset, exchange, Bound.ALL);
    byte[] value = read(control, field, index);
    assertThat(value == null ? null : text(value)).as("control").isEqualTo(wrong);
    assertThat(value).as("control").isNotEqualTo(read(dataset, field, index));
    // Statistics say in which range values are, so a check may compare them with other values.
    assertThat(damages(control))
        .as("control")
        .allMatch(finding -> finding.problem().startsWith("the statistics of block"));
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
    try (RecordDataset open = RecordDataset.open(dataset.toString());
        Batch batch = open.gather(indices, field)) {
      return batch.isAbsent(field, 0) ? null : batch.bytes(field, 0);
    }
  }

  private static List<Finding> damages(Path dataset) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(dataset.toString()).run(findings::add);
    return findings.stream().filter(finding -> finding.kind().isDamage()).toList();
  }

  /** Returns the shards of a table in the order of the records. */
  private static List<ShardEditor> shards(Path dataset) {
    RecordTable table = RecordTable.at(LocalStorage.at(dataset));
    return table.latest().shards().stream()
        .map(shard -> ShardEditor.of(dataset, dataset.resolve(shard.directory())))
        .toList();
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
