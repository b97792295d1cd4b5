package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Binding.Kind;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.Entry;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchJson;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.SlotSet;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.read.FieldReader;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.schema.FieldSpec;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.testing.Budget;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Damage of each part of a patch is found by readers, whose checks of values are on. */
final class PatchDamageTest {
  private final long seed = Budget.seed();
  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private ShardSummary shard;
  private Path file;
  private byte[] sound;
  private PatchJson json;

  /** A part of a patch. */
  private enum Part {
    HEADER,
    DELETED,
    SLOTS,
    ENTRIES,
    JSON
  }

  @BeforeEach
  void copy() throws IOException {
    Path table = directory.resolve("table");
    try (Stream<Path> all = Files.walk(GoldenPatches.DIRECTORY)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Files.copy(path, table.resolve(GoldenPatches.DIRECTORY.relativize(path).toString()));
      }
    }
    storage = LocalStorage.at(table);
    shard = RecordTable.at(storage).latest().shards().get(0);
    PatchRef ref = shard.patch();
    file = table.resolve(shard.directory()).resolve(ref.fileName());
    sound = Files.readAllBytes(file);
    int at = (int) ref.jsonPosition();
    json = PatchJson.read("patch", Arrays.copyOfRange(sound, at, at + ref.jsonBytes()), at);
  }

  private List<Section> sections(Part part) {
    List<Section> sections = new ArrayList<>();
    switch (part) {
      case HEADER -> sections.add(new Section(0, FileHeader.BYTES));
      case DELETED -> sections.add(json.deleted().section());
      case SLOTS ->
        json.fields().keySet().forEach(id -> sections.add(json.field(id).slots().section()));
      case ENTRIES -> {
        for (int id : json.fields().keySet()) {
          PatchField field = json.field(id);
          // Zeros may follow.
          long bytes = EntryUnits.unitBytes(0, field.count()) + (long) Integer.BYTES;
          sections.add(new Section(field.entries().position(), bytes));
        }
      }
      case JSON -> sections.add(new Section(json.position(), shard.patch().jsonBytes()));
    }
    return sections;
  }

  /** Returns all values of the shard, or throws. */
  private String everything(ShardSummary of, Verification verification) {
    OpenShards.shared().clear();
    StringBuilder values = new StringBuilder();
    try (RecordDataset dataset = RecordDataset.openShard(
        storage, GoldenPatches.SCHEMA, of, new ReadOptions(verification, new ReadMetrics()))) {
      int length = (int) dataset.length();
      for (FieldSpec field : GoldenPatches.SCHEMA.fields()) {
        FieldReader reader = dataset.reader(field.name());
        reader.select(LongStream.range(0, length).toArray(), 0, length);
        for (int i = 0; i < length; i++) {
          values
              .append(reader.isAbsent(i) ? "-" : HexFormat.of().formatHex(reader.value(i)))
              .append(' ');
        }
      }
    }
    return values.toString();
  }

  @ParameterizedTest
  @EnumSource(Part.class)
  void aFlippedBitIsFound(Part part) throws IOException {
    for (Section section : sections(part)) {
      for (int round = Math.max(2, Budget.of(6)); round > 0; round--) {
        byte[] damaged = sound.clone();
        int at = (int) (section.position() + random.nextInt((int) section.bytes()));
        damaged[at] ^= (byte) (1 << random.nextInt(8));
        Files.write(file, damaged);
        for (Verification verification : Verification.values()) {
          assertThatThrownBy(() -> everything(shard, verification))
              .as("byte %d, %s, seed %d", at, verification, seed)
              .isInstanceOf(ZRecordException.class);
        }
      }
    }
    Files.write(file, sound);
    assertThat(everything(shard, Verification.FIRST)).isNotEmpty();
  }

  @Test
  void aFlippedBitOfAValueIsFound() throws IOException {
    PatchField field = json.field(json.fields().firstKey());
    ByteBuffer bytes = ByteBuffer.wrap(sound).order(ByteOrder.LITTLE_ENDIAN);
    int entry = (int) field.entries().position();
    while (bytes.getLong(entry) == 0 || Entry.physicalLength(bytes.getLong(entry + 8)) == 0) {
      entry += Entry.BYTES;
    }
    ChunkFile chunk = json.chunks().get(Entry.chunkId(bytes.getLong(entry + 8)));
    Path path = file.resolveSibling(chunk.fileName());
    byte[] content = Files.readAllBytes(path);
    String expected = everything(shard, Verification.FIRST);
    content[(int) bytes.getLong(entry)] ^= 1;
    Files.write(path, content);
    assertThatThrownBy(() -> everything(shard, Verification.FIRST))
        .isInstanceOf(ZRecordException.class);
    // Control: without verification the damage is read.
    assertThat(everything(shard, Verification.NEVER)).isNotEqualTo(expected);
  }

  /** Control: with checksums that hold, another deleted slot is another set of records. */
  @Test
  void anotherDeletedSlotIsReadIfItsChecksumsHold() throws IOException {
    String expected = everything(shard, Verification.FIRST);
    byte[] changed = sound.clone();
    int first = (int) json.deleted().section().position() + 16;
    assertThat(changed[first]).isZero();
    changed[first] = 1;
    int sum = new Binding(json.fileId(), 0)
        .bind(Kind.DELETED, 0, Crc32c.of(changed, first - 16, (int)
            json.deleted().section().bytes()));
    assertThat(everything(sealed(changed, sum), Verification.ALWAYS)).isNotEqualTo(expected);
  }

  /** Writes the patch with another checksum of its deleted slots. */
  private ShardSummary sealed(byte[] content, int deletedChecksum) throws IOException {
    List<PatchField> fields = json.fields().keySet().stream().map(json::field).toList();
    byte[] text = PatchJson.of(
            json.shardId(),
            json.fileId(),
            json.slots(),
            json.chunks(),
            new SlotSet(json.deleted().section(), deletedChecksum),
            fields,
            json.since(),
            json.position())
        .write();
    int position = (int) json.position();
    ByteBuffer written = ByteBuffer.allocate(position + text.length + TablesTrailer.BYTES);
    written.put(content, 0, position).put(text);
    written.put(new TablesTrailer(position, text.length).encode());
    Files.write(file, written.array());
    PatchRef ref = new PatchRef(
        json.fileId(),
        written.capacity(),
        position,
        text.length,
        SealedJson.checksum("patch", text),
        json.slots());
    return shard.patched(shard.length(), shard.chunks(), ref);
  }

  @Test
  void twoEntriesExchangedWithTheirChecksumsAreFound() throws IOException {
    String expected = everything(shard, Verification.FIRST);
    PatchField field = json.fields().keySet().stream()
        .map(json::field)
        .filter(this::beginsWithTwoValues)
        .findFirst()
        .orElseThrow();
    byte[] exchanged = sound.clone();
    int entries = (int) field.entries().position();
    exchange(exchanged, entries, entries + Entry.BYTES, Entry.BYTES);
    int sums = entries + (int) EntryUnits.checksumAt(0, field.count());
    exchange(exchanged, sums, sums + Integer.BYTES, Integer.BYTES);
    Files.write(file, exchanged);
    assertThatThrownBy(() -> everything(shard, Verification.FIRST))
        .isInstanceOf(ZRecordException.class);
    // The checksum of the unit holds; those of the values are bound to their places.
    Binding binding = new Binding(json.fileId(), field.id());
    ByteBuffer bytes = ByteBuffer.wrap(exchanged).order(ByteOrder.LITTLE_ENDIAN);
    int unitBytes = EntryUnits.unitBytes(0, field.count());
    bytes.putInt(
        entries + unitBytes,
        binding.bind(Kind.OFFSETS, 0, Crc32c.of(exchanged, entries, unitBytes)));
    Files.write(file, exchanged);
    assertThatThrownBy(() -> everything(shard, Verification.FIRST))
        .isInstanceOf(ZRecordException.class);
    // Control: with these bound again, nothing finds the exchange.
    for (int i = 0; i < 2; i++) {
      int at = sums + i * Integer.BYTES;
      bytes.putInt(at, Binding.rebind(1 - i, i, bytes.getInt(at)));
    }
    bytes.putInt(
        entries + unitBytes,
        binding.bind(Kind.OFFSETS, 0, Crc32c.of(exchanged, entries, unitBytes)));
    Files.write(file, exchanged);
    assertThat(everything(shard, Verification.ALWAYS)).isNotEqualTo(expected);
  }

  /** Tells whether the first two entries are of present values that differ. */
  private boolean beginsWithTwoValues(PatchField field) {
    if (field.count() < 2) {
      return false;
    }
    ByteBuffer bytes = ByteBuffer.wrap(sound).order(ByteOrder.LITTLE_ENDIAN);
    Binding binding = new Binding(json.fileId(), field.id());
    int entries = (int) field.entries().position();
    int[] sums = new int[2];
    for (int i = 0; i < 2; i++) {
      long word0 = bytes.getLong(entries + i * Entry.BYTES);
      long word1 = bytes.getLong(entries + i * Entry.BYTES + Long.BYTES);
      if (Entry.isAbsent(word0, word1)) {
        return false;
      }
      int stored = bytes.getInt(entries + (int) EntryUnits.checksumAt(i, field.count()));
      sums[i] = binding.bindEntry(i, word0, word1, stored);
    }
    return sums[0] != sums[1];
  }

  private static void exchange(byte[] bytes, int one, int two, int length) {
    byte[] kept = Arrays.copyOfRange(bytes, one, one + length);
    System.arraycopy(bytes, two, bytes, one, length);
    System.arraycopy(kept, 0, bytes, two, length);
  }

  @Test
  void thePatchBeforeIsNotTakenForTheNewOne() throws IOException {
    ShardSummary before = RecordTable.at(storage).version(1).shards().get(0);
    Path older = file.resolveSibling(before.patch().fileName());
    Files.copy(older, file, java.nio.file.StandardCopyOption.REPLACE_EXISTING);
    assertThatThrownBy(() -> everything(shard, Verification.FIRST))
        .isInstanceOf(ZRecordException.class);
    assertThat(everything(before, Verification.FIRST)).isNotEmpty();
  }
}
