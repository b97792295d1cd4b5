package io.zrecord.internal.table;

import io.zrecord.internal.shard.write.Patches;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
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
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The table under {@code golden/v2-units}: shards so long that tables have several units of every
 * kind. The first has 70,000 slots, several containers in its patch, and more than 512 blocks of
 * lines. The second has values compressed one by one, and values aligned to 64 bytes.
 *
 * <p>The files in the repository are written by {@link #main}, like those of {@link GoldenDataset}.
 */
final class GoldenUnits {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-units");
  private static final List<Integer> SLOTS = List.of(70_000, 1_500);
  private static final Compression ZSTD = Compression.parse("zstd:3");
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I32)
      .field("text", ElementType.UTF8)
      .field("label", ElementType.I32, Shape.scalar(), ZSTD)
      .field("line", ElementType.UTF8, Shape.scalar(), ZSTD)
      .build();

  private GoldenUnits() {}

  /** Writes the table, and the file of values beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(LocalStorage.at(directory.resolve("v2-units")));
    Files.writeString(directory.resolve("v2-units-values.json"), values());
  }

  /** Tells whether the patch of the first shard deletes a slot. */
  private static boolean isDeleted(int shard, int slot) {
    return shard == 0 && (slot % 4_999 == 17 || slot == 65_536 || slot == 69_999);
  }

  /** Tells whether the patch of the first shard changes a value. */
  private static boolean isChanged(int field, int shard, int slot) {
    return shard == 0 && field != 1 && (slot % 61 == field || slot == 65_535 || slot == 65_537);
  }

  private static Optional<byte[]> value(int field, int shard, int slot) {
    int of = slot + (isChanged(field, shard, slot) ? 1_000_000 : 0);
    if ((of + 3 * field) % 11 == 5) {
      return Optional.empty();
    }
    return Optional.of(
        switch (field) {
          case 0 -> number(of * 7 - 100_000);
          case 1 -> text("t" + of % 1_000 + (of % 100 == 50 ? "-".repeat(120) : ""));
          case 2 -> number(of % 1_000);
          default -> text("line " + of + " of the table of units");
        });
  }

  private static byte[] number(int number) {
    return ByteBuffer.allocate(Integer.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(number)
        .array();
  }

  private static byte[] text(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static void write(Storage storage) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 20).withDurability(Durability.NONE);
    ShardSummary blocks = writeShard(storage, 0, options.withBlockBytes(4096));
    ShardSummary values = writeShard(storage, 1, options.withBlockBytes(0).withAlignBytes(64));
    new ManifestLog(storage)
        .publish(new Manifest(
            new Manifest.Head(
                uuid(100),
                0,
                uuid(101),
                Optional.empty(),
                OptionalLong.empty(),
                1_790_000_000_000L,
                "create",
                Map.of()),
            SCHEMA,
            SCHEMA.fields().size() + 1,
            List.of(),
            List.of(patched(storage, blocks), values),
            Map.of(),
            Optional.empty(),
            new Manifest.Retention(new RecordsVersion(0, uuid(101)), 0, List.of())));
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 16);
  }

  private static ShardSummary writeShard(Storage storage, int shard, WriteOptions options) {
    try (ShardWriter writer = ShardWriter.create(storage, uuid(1 + shard), SCHEMA, options)) {
      for (int slot = 0; slot < SLOTS.get(shard); slot++) {
        for (int field = 0; field < SCHEMA.fields().size(); field++) {
          // Changed values are others in the patch.
          Optional<byte[]> value =
              isChanged(field, shard, slot) ? Optional.empty() : value(field, shard, slot);
          if (value.isPresent()) {
            writer.put(field, value.get(), 0, value.get().length);
          }
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static ShardSummary patched(Storage storage, ShardSummary shard) {
    Map<FieldSpec, SortedMap<Long, byte[]>> changes = new HashMap<>();
    List<Long> deleted = new ArrayList<>();
    for (int slot = 0; slot < SLOTS.get(0); slot++) {
      if (isDeleted(0, slot)) {
        deleted.add((long) slot);
        continue;
      }
      for (int field = 0; field < SCHEMA.fields().size(); field++) {
        if (isChanged(field, 0, slot)) {
          changes
              .computeIfAbsent(SCHEMA.fields().get(field), of -> new TreeMap<>())
              .put((long) slot, value(field, 0, slot).orElse(null));
        }
      }
    }
    long[] slots = deleted.stream().mapToLong(Long::longValue).toArray();
    return Patches.write(storage, shard, uuid(16), uuid(17), slots, changes);
  }

  /** Returns the values of records near the ends of units, and of some others. */
  private static String values() {
    List<Integer> records = new ArrayList<>();
    List<int[]> places = new ArrayList<>();
    int record = 0;
    for (int shard = 0; shard < SLOTS.size(); shard++) {
      for (int slot = 0; slot < SLOTS.get(shard); slot++) {
        if (isDeleted(shard, slot)) {
          continue;
        }
        int within = slot % 1_024;
        boolean isNearEnd = (within < 2 || within > 1_021) && slot % 4_096 < 1_024;
        if (isNearEnd || slot % 701 == 0 || Math.abs(slot - 65_536) < 3) {
          records.add(record);
          places.add(new int[] {shard, slot});
        }
        record++;
      }
    }
    StringBuilder json = new StringBuilder("{\n\"dataset\": \"v2-units\",\n\"version\": 0,\n")
        .append("\"records\": ")
        .append(records)
        .append(",\n\"values\": {\n");
    String before = "";
    for (int field = 0; field < SCHEMA.fields().size(); field++) {
      List<String> values = new ArrayList<>();
      for (int[] place : places) {
        values.add(value(field, place[0], place[1])
            .map(value -> '"' + HexFormat.of().formatHex(value) + '"')
            .orElse("null"));
      }
      String name = SCHEMA.fields().get(field).name();
      json.append(before).append('"').append(name).append("\": ").append(values);
      before = ",\n";
    }
    return json.append("\n}\n}\n").toString();
  }
}
