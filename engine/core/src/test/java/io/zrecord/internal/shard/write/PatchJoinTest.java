package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.RankedBitmap;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.layout.SlotsOfCommit;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableChange.Kind;
import io.zrecord.table.TableChangeBuilder;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Patches of one commit for one shard are joined without reading values. */
final class PatchJoinTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final FieldSpec NUMBER = SCHEMA.fields().get(0);
  private static final FieldSpec TEXT = SCHEMA.fields().get(1);

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;

  /** What a commit does to a shard, by slot. */
  private static final class Changes {
    final TreeSet<Long> deleted = new TreeSet<>();
    final Map<FieldSpec, SortedMap<Long, byte @Nullable []>> values = new HashMap<>();

    void put(FieldSpec field, long slot, byte @Nullable [] value) {
      values.computeIfAbsent(field, key -> new TreeMap<>()).put(slot, value);
    }

    void add(Changes other) {
      deleted.addAll(other.deleted);
      other.values.forEach((field, news) -> news.forEach((slot, value) -> put(field, slot, value)));
    }
  }

  @BeforeEach
  void open() {
    storage = LocalStorage.at(directory.resolve("table"));
  }

  private ShardSummary shard(int records) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      for (int i = 0; i < records; i++) {
        writer.putLong(0, i);
        byte[] text = ("text " + i).getBytes(StandardCharsets.UTF_8);
        writer.put(1, text, 0, text.length);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static byte[] number(long value) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(value).array();
  }

  private @Nullable PatchFile patchOf(ShardSummary shard) {
    return OpenShards.unshared(storage, shard).patch();
  }

  private ShardSummary patched(ShardSummary shard, Changes changes) {
    long[] deleted = changes.deleted.stream().mapToLong(slot -> slot).toArray();
    return Patches.write(storage, shard, deleted, changes.values);
  }

  private List<PatchPart> parts(ShardSummary shard, List<ShardSummary> patched) {
    return patched.stream()
        .map(
            part -> PatchPart.ofCommit(part, patchOf(shard), Objects.requireNonNull(patchOf(part))))
        .toList();
  }

  private ShardSummary join(ShardSummary shard, List<ShardSummary> patched) {
    return new PatchJoin(shard, patchOf(shard), parts(shard, patched))
        .write(storage, UUID.randomUUID(), Durability.NONE);
  }

  /** Returns random changes of some of the slots, which are taken out of the list. */
  private Changes changesOf(List<Long> slots, int count) {
    Changes changes = new Changes();
    for (int i = 0; i < count && !slots.isEmpty(); i++) {
      long slot = slots.remove(random.nextInt(slots.size()));
      int what = random.nextInt(5);
      if (what == 0) {
        changes.deleted.add(slot);
      }
      if (what == 1 || what == 3) {
        changes.put(NUMBER, slot, random.nextInt(8) == 0 ? null : number(random.nextLong()));
      }
      if (what >= 2) {
        String text = "t" + random.nextInt(1000);
        changes.put(
            TEXT, slot, random.nextInt(8) == 0 ? null : text.getBytes(StandardCharsets.UTF_8));
      }
    }
    return changes;
  }

  private List<Long> liveSlots(ShardSummary shard) {
    PatchFile patch = patchOf(shard);
    RankedBitmap dead = patch == null ? null : patch.deleted();
    return new ArrayList<>(LongStream.range(0, shard.slots())
        .filter(slot -> dead == null || !dead.contains(slot))
        .boxed()
        .toList());
  }

  /** Makes a version of a shard, and returns its values. */
  private List<String> records(ShardSummary shard) {
    RecordTable table = RecordTable.at(storage);
    TableChangeBuilder change = table.exists()
        ? TableChange.of(Kind.OVERWRITE, SCHEMA).base(table.latest())
        : TableChange.of(Kind.CREATE, SCHEMA);
    TableSnapshot version = table.commit(change.shards(List.of(shard)).build());
    List<String> records = new ArrayList<>();
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      for (FieldSpec field : SCHEMA.fields()) {
        FieldReader reader = dataset.reader(field.name());
        reader.select(LongStream.range(0, length).toArray(), 0, length);
        for (int i = 0; i < length; i++) {
          records.add(reader.isAbsent(i) ? "-" : HexFormat.of().formatHex(reader.value(i)));
        }
      }
    }
    return records;
  }

  @Test
  void aJoinHasWhatOnePatchOfAllChangesHas() {
    for (int round = Math.max(2, Budget.of(20)); round > 0; round--) {
      ShardSummary shard = shard(2000);
      if (random.nextBoolean()) {
        shard = patched(shard, changesOf(liveSlots(shard), 300));
      }
      List<Long> slots = liveSlots(shard);
      Changes all = new Changes();
      List<ShardSummary> parts = new ArrayList<>();
      for (int part = 1 + random.nextInt(5); part > 0; part--) {
        Changes changes = changesOf(slots, random.nextInt(200));
        all.add(changes);
        parts.add(patched(shard, changes));
      }
      assertThat(PatchJoin.slotInTwo(parts(shard, parts))).isEmpty();
      ShardSummary joined = join(shard, parts);
      ShardSummary whole = patched(shard, all);
      assertThat(records(joined)).isEqualTo(records(whole));
      assertThat(slotsOf(joined)).isEqualTo(slotsOf(whole));
      requireSound();
    }
  }

  /** Returns what a patch says of its commit. */
  private String slotsOf(ShardSummary shard) {
    SlotsOfCommit said = Objects.requireNonNull(patchOf(shard)).slotsOfCommit().orElseThrow();
    StringBuilder text = new StringBuilder(said.before().toString());
    RankedBitmap deleted = said.deleted();
    text.append(deleted == null ? "" : LongStream.of(deleted.slots()).boxed().toList());
    said.fields()
        .forEach((id, slots) ->
            text.append(id).append(LongStream.of(slots.slots()).boxed().toList()));
    return text.toString();
  }

  @Test
  void aPatchSaysWhatItsCommitChanged() {
    ShardSummary shard = shard(100);
    Changes first = new Changes();
    first.deleted.add(7L);
    first.put(NUMBER, 3, number(1));
    ShardSummary once = patched(shard, first);
    assertThat(slotsOf(once)).isEqualTo("Optional.empty[7]1[3]");
    Changes second = new Changes();
    second.deleted.add(3L);
    second.put(TEXT, 5, null);
    second.put(NUMBER, 5, number(2));
    ShardSummary twice = patched(once, second);
    UUID before = Objects.requireNonNull(once.patch()).id();
    assertThat(slotsOf(twice)).isEqualTo(Optional.of(before) + "[3]1[5]2[5]");
    Changes third = new Changes();
    third.put(NUMBER, 5, number(3));
    UUID between = Objects.requireNonNull(twice.patch()).id();
    assertThat(slotsOf(patched(twice, third))).isEqualTo(Optional.of(between) + "1[5]");
  }

  @Test
  void theLastValueOfASlotCounts() {
    ShardSummary shard = shard(100);
    PatchWriter writer = new PatchWriter(
        storage, shard, null, UUID.randomUUID(), UUID.randomUUID(), Durability.NONE);
    Patches.put(writer, NUMBER, 9, number(1));
    Patches.put(writer, NUMBER, 5, number(2));
    Patches.put(writer, NUMBER, 9, number(3));
    Patches.put(writer, NUMBER, 5, null);
    Patches.put(writer, NUMBER, 6, number(4));
    Patches.put(writer, TEXT, 7, new byte[] {'x'});
    Patches.put(writer, TEXT, 8, new byte[] {'y'});
    assertThat(writer.delete(7)).isTrue();
    assertThat(writer.delete(7)).isFalse();
    ShardSummary patched = writer.finish();
    assertThat(slotsOf(patched)).isEqualTo("Optional.empty[7]1[5, 6, 9]2[8]");
    List<String> values = records(patched);
    assertThat(values.subList(5, 9)).containsExactly("-", hex(4), hex(8), hex(3));
    assertThat(values.get(99 + 7)).isEqualTo("79");
    requireSound();
  }

  private static String hex(long number) {
    return HexFormat.of().formatHex(number(number));
  }

  private void requireSound() {
    assertThat(DatasetCheck.of(directory.resolve("table").toString())
            .run(finding -> {})
            .isSound())
        .isTrue();
  }

  @Test
  void aFlippedBitOfWhatTheCommitChangedIsFound() throws IOException {
    ShardSummary shard = patched(shard(100), changesOf(liveSlots(shard(100)), 10));
    ShardSummary patched = patched(shard, changesOf(liveSlots(shard), 40));
    PatchFile patch = Objects.requireNonNull(patchOf(patched));
    List<Section> sections = new ArrayList<>();
    patch
        .json()
        .since()
        .orElseThrow()
        .fields()
        .values()
        .forEach(set -> sections.add(set.section()));
    sections.add(patch.json().since().orElseThrow().deleted().section());
    Path file = Path.of(patch.path());
    byte[] sound = Files.readAllBytes(file);
    List<String> expected = records(patched);
    int found = 0;
    for (Section section : sections) {
      if (!section.isPresent()) {
        continue;
      }
      byte[] damaged = sound.clone();
      damaged[(int) (section.position() + random.nextInt((int) section.bytes()))] ^= 4;
      Files.write(file, damaged);
      PatchFile opened = Objects.requireNonNull(patchOf(patched));
      assertThatThrownBy(opened::slotsOfCommit).isInstanceOf(CorruptDataException.class);
      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(directory.resolve("table").toString()).run(findings::add);
      assertThat(findings).isNotEmpty();
      found++;
      Files.write(file, sound);
    }
    assertThat(found).isPositive();
    assertThat(records(patched)).isEqualTo(expected);
  }

  @Test
  void aSlotThatTwoPatchesChangeIsFound() {
    ShardSummary shard = shard(100);
    for (int kind = 0; kind < 3; kind++) {
      Changes one = new Changes();
      one.put(NUMBER, 41, number(1));
      one.deleted.add(3L);
      Changes other = new Changes();
      other.put(TEXT, 40, null);
      if (kind == 0) {
        other.deleted.add(41L);
      } else if (kind == 1) {
        other.put(TEXT, 41, null);
      } else {
        other.put(NUMBER, 41, number(1));
      }
      other.deleted.add(3L); // Both delete it, which is no contradiction.
      for (List<Changes> order : List.of(List.of(one, other), List.of(other, one))) {
        List<PatchPart> parts =
            parts(shard, order.stream().map(changes -> patched(shard, changes)).toList());
        assertThat(PatchJoin.slotInTwo(parts)).isEqualTo(OptionalLong.of(41));
      }
    }
  }

  @Test
  void patchesOnTopOfDifferentPatchesAreRefused() {
    ShardSummary shard = shard(100);
    Changes changes = changesOf(liveSlots(shard), 10);
    ShardSummary once = patched(shard, changes);
    ShardSummary twice = patched(once, changesOf(liveSlots(once), 10));
    List<ShardSummary> parts = List.of(once, twice);
    assertThatThrownBy(() -> join(shard, parts))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("follows the patch");
  }

  @Test
  void joinedStatisticsHoldForEveryValue() {
    ShardSummary shard = shard(70_000);
    List<ShardSummary> parts = IntStream.range(0, 3)
        .mapToObj(part -> {
          Changes changes = new Changes();
          for (long slot = part; slot < shard.slots(); slot += 1000) {
            changes.put(NUMBER, slot, number(1_000_000L + slot));
          }
          return patched(shard, changes);
        })
        .toList();
    ShardSummary joined = join(shard, parts);
    PatchFile patch = Objects.requireNonNull(patchOf(joined));
    var slots = Objects.requireNonNull(patch.changed(NUMBER)).slots();
    assertThat(patch.statistics(NUMBER.id(), slots)).hasSize(2).allMatch(r -> r.isKnown());
    records(joined);
    requireSound();
  }
}
