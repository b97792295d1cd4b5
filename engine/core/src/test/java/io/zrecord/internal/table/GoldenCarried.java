package io.zrecord.internal.table;

import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchJoin;
import io.zrecord.internal.shard.write.PatchPart;
import io.zrecord.internal.shard.write.Patches;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The table under {@code golden/v2-carried}, whose newest version names chunks of shards that are
 * not there any more. Version 0 has two shards. Version 1 deletes and changes records of the first.
 * Version 2 has all records in a third shard. Version 3 deletes and changes records of both, as was
 * planned on version 1.
 *
 * <p>The files in the repository are written by {@link #main}, like those of {@link GoldenDataset}.
 */
final class GoldenCarried {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-carried");
  static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final int SLOTS = 40;
  private static final FieldSpec TEXT = SCHEMA.fields().get(1);

  private GoldenCarried() {}

  /** A record: its number, and its text, which may be absent. */
  record Item(long number, @Nullable String text) {}

  /** Writes the table, and the file of values beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(directory.resolve("v2-carried"));
    Files.writeString(directory.resolve("v2-carried-values.json"), values());
  }

  /** Returns the records of a version in order. */
  static List<Item> items(int version) {
    List<Item> items = new ArrayList<>();
    for (int i = 0; i < 2 * SLOTS; i++) {
      if ((version >= 1 && isDeletedFirst(i)) || (version >= 3 && isDeletedLate(i))) {
        continue;
      }
      items.add(new Item(i, version >= 3 && isChangedLate(i) ? late(i) : text(i, version >= 1)));
    }
    return items;
  }

  private static String text(int i, boolean isLater) {
    return isLater && isChangedFirst(i) ? "first " + i : "text " + i;
  }

  private static @Nullable String late(int i) {
    return i % 4 == 0 ? null : "late ".repeat(1 + i % 3) + i;
  }

  private static boolean isDeletedFirst(int i) {
    return i < SLOTS && i % 7 == 3;
  }

  private static boolean isChangedFirst(int i) {
    return i < SLOTS && i % 7 == 4;
  }

  private static boolean isDeletedLate(int i) {
    return !isDeletedFirst(i) && i % 11 == 5;
  }

  private static boolean isChangedLate(int i) {
    return !isDeletedFirst(i) && i % 11 == 6;
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    ManifestLog log = new ManifestLog(storage);
    List<Item> all = items(0);
    ShardSummary first = shard(storage, uuid(1), all.subList(0, SLOTS));
    ShardSummary second = shard(storage, uuid(2), all.subList(SLOTS, 2 * SLOTS));
    log.publish(manifest(0, "create", List.of(first, second)));
    ShardSummary changed = patched(
        storage,
        first,
        10,
        slots(0, GoldenCarried::isDeletedFirst),
        texts(0, 1, GoldenCarried::isChangedFirst));
    log.publish(manifest(1, "update", List.of(changed, second)));
    ShardSummary third = shard(storage, uuid(3), items(1));
    log.publish(manifest(2, "rebalance", List.of(third)));
    PatchPart ofFirst = late(storage, changed, 0, 20);
    PatchPart ofSecond = late(storage, second, 1, 30);
    PatchFile before = Objects.requireNonNull(patchOf(storage, changed));
    long shift = changed.length();
    ShardSummary joined = new PatchJoin(
            third,
            null,
            List.of(
                ofFirst.movedBy(
                    slot -> slot - Objects.requireNonNull(before.deleted()).rank(slot)),
                ofSecond.movedBy(slot -> slot + shift)))
        .write(storage, uuid(40), Durability.NONE);
    log.publish(manifest(3, "update", List.of(joined)));
  }

  private static PatchPart late(Storage storage, ShardSummary shard, int ordinal, int number) {
    ShardSummary patched = patched(
        storage,
        shard,
        number,
        slots(ordinal, GoldenCarried::isDeletedLate),
        texts(ordinal, 3, GoldenCarried::isChangedLate));
    return PatchPart.ofCommit(
        patched, patchOf(storage, shard), Objects.requireNonNull(patchOf(storage, patched)));
  }

  private static @Nullable PatchFile patchOf(Storage storage, ShardSummary shard) {
    return OpenShards.unshared(storage, shard).patch();
  }

  private static long[] slots(int ordinal, IntPredicate which) {
    return IntStream.range(0, SLOTS)
        .filter(slot -> which.test(ordinal * SLOTS + slot))
        .asLongStream()
        .toArray();
  }

  private static SortedMap<Long, byte[]> texts(int ordinal, int version, IntPredicate which) {
    SortedMap<Long, byte[]> texts = new TreeMap<>();
    for (long slot : slots(ordinal, which)) {
      int i = ordinal * SLOTS + (int) slot;
      String text = version == 1 ? text(i, true) : late(i);
      texts.put(slot, text == null ? null : text.getBytes(StandardCharsets.UTF_8));
    }
    return texts;
  }

  private static ShardSummary patched(
      Storage storage,
      ShardSummary shard,
      int number,
      long[] deleted,
      SortedMap<Long, byte[]> texts) {
    return Patches.write(
        storage, shard, uuid(number), uuid(number + 1), deleted, Map.of(TEXT, texts));
  }

  private static Manifest manifest(int version, String operation, List<ShardSummary> shards) {
    return new Manifest(
        new Manifest.Head(
            uuid(100),
            version,
            uuid(101 + version),
            version == 0 ? Optional.empty() : Optional.of(uuid(100 + version)),
            version == 0 ? OptionalLong.empty() : OptionalLong.of(Math.min(version - 1, 1)),
            1_790_000_000_000L + version,
            operation,
            Map.of()),
        SCHEMA,
        3,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(version, uuid(101 + version)), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 16);
  }

  private static ShardSummary shard(Storage storage, UUID id, List<Item> items) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 20).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, id, SCHEMA, options)) {
      for (Item item : items) {
        writer.putLong(0, item.number);
        byte[] text = Objects.requireNonNull(item.text).getBytes(StandardCharsets.UTF_8);
        writer.put(1, text, 0, text.length);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static String values() {
    List<Item> items = items(3);
    List<Integer> records = IntStream.range(0, items.size()).boxed().toList();
    List<String> numbers = items.stream()
        .map(item -> HexFormat.of()
            .formatHex(ByteBuffer.allocate(8)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(item.number)
                .array()))
        .map(hex -> '"' + hex + '"')
        .toList();
    List<String> texts = new ArrayList<>();
    for (Item item : items) {
      texts.add(
          item.text == null
              ? "null"
              : '"' + HexFormat.of().formatHex(item.text.getBytes(StandardCharsets.UTF_8)) + '"');
    }
    return "{\n\"dataset\": \"v2-carried\",\n\"version\": 3,\n\"records\": " + records
        + ",\n\"values\": {\n\"number\": " + numbers + ",\n\"text\": " + texts + "\n}\n}\n";
  }
}
