package io.zrecord.internal.table;

import io.zrecord.internal.shard.write.Patches;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;

/**
 * The table under {@code golden/v2-patches}: a shard with runs and a shard with entries, and
 * patches. Version 1 changes and deletes records of both shards. Version 2 does so with the first
 * shard again, whose patch then has the changes of both versions. Values are those of
 * {@link GoldenDataset}.
 *
 * <p>The files in the repository are written by {@link #main}, like those of {@link GoldenDataset}.
 */
final class GoldenPatches {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-patches");
  static final RecordSchema SCHEMA = schema();
  static final int SLOTS = 40;

  private static final List<Set<Integer>> DELETED =
      List.of(Set.of(), Set.of(3, 17, 39), Set.of(0, 18, 19));

  private GoldenPatches() {}

  /** A record of a version: the numbers of its shard and of its slot. */
  record Place(int shard, int slot) {}

  /** Writes the table, and the file of values beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(directory.resolve("v2-patches"));
    Files.writeString(directory.resolve("v2-patches-values.json"), values());
  }

  private static RecordSchema schema() {
    List<FieldSpec> fields = new ArrayList<>(GoldenDataset.RAW.fields());
    fields.removeIf(field -> field.name().equals("wide"));
    fields.addAll(GoldenDataset.COMPRESSED.fields());
    return new RecordSchema(fields);
  }

  /** Returns the records of a version in order. */
  static List<Place> places(int version) {
    List<Place> places = new ArrayList<>();
    for (int shard = 0; shard < 2; shard++) {
      for (int slot = 0; slot < SLOTS; slot++) {
        if (!isDeleted(version, shard, slot)) {
          places.add(new Place(shard, slot));
        }
      }
    }
    return places;
  }

  private static boolean isDeleted(int version, int shard, int slot) {
    boolean isDeleted = false;
    for (int v = 1; v <= version; v++) {
      isDeleted |= (v == 1 || shard == 0) && DELETED.get(v).contains(slot);
    }
    return isDeleted;
  }

  /** Returns the value of a record of a version; empty if it is absent. */
  static Optional<byte[]> value(FieldSpec field, Place place, int version) {
    int of = 0;
    for (int v = 1; v <= version; v++) {
      of = isChanged(field, place, v) ? v : of;
    }
    // The second shard is as a store left it, which keeps no compression.
    return GoldenDataset.value(field, place.slot + 100 * of);
  }

  private static boolean isChanged(FieldSpec field, Place place, int version) {
    return switch (version) {
      case 1 -> field.id() % 2 == 1 && place.slot % 4 == 1;
      case 2 -> place.shard == 0 && field.id() % 3 == 0 && place.slot % 6 == 1;
      default -> false;
    };
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    List<ShardSummary> shards =
        List.of(writeShard(storage), GoldenEntries.write(storage, uuid(2), raw(), SLOTS));
    ManifestLog log = new ManifestLog(storage);
    log.publish(manifest(0, "create", shards));
    shards = List.of(patched(storage, shards, 0, 1), patched(storage, shards, 1, 1));
    log.publish(manifest(1, "update", shards));
    shards = List.of(patched(storage, shards, 0, 2), shards.get(1));
    log.publish(manifest(2, "update", shards));
  }

  /** Returns the fields that the second shard has: its chunk has no stored prefixes. */
  private static RecordSchema raw() {
    return new RecordSchema(SCHEMA.fields().stream()
        .map(field -> field.withCompression(io.zrecord.schema.Compression.RAW))
        .toList());
  }

  private static ShardSummary patched(
      Storage storage, List<ShardSummary> shards, int shard, int version) {
    ShardSummary before = shards.get(shard);
    Map<FieldSpec, SortedMap<Long, byte[]>> changes = new HashMap<>();
    for (FieldSpec field : SCHEMA.fields()) {
      SortedMap<Long, byte[]> values = new TreeMap<>();
      for (int slot = 0; slot < SLOTS; slot++) {
        Place place = new Place(shard, slot);
        if (isChanged(field, place, version) && !isDeleted(version, shard, slot)) {
          values.put((long) slot, value(field, place, version).orElse(null));
        }
      }
      if (!values.isEmpty()) {
        changes.put(field, values);
      }
    }
    long[] deleted =
        DELETED.get(version).stream().mapToLong(Integer::longValue).sorted().toArray();
    return Patches.write(
        storage,
        before,
        uuid(16 * version + 2 * shard),
        uuid(16 * version + 2 * shard + 1),
        deleted,
        changes);
  }

  private static Manifest manifest(int version, String operation, List<ShardSummary> shards) {
    return new Manifest(
        new Manifest.Head(
            uuid(100),
            version,
            uuid(101 + version),
            version == 0 ? Optional.empty() : Optional.of(uuid(100 + version)),
            version == 0 ? OptionalLong.empty() : OptionalLong.of(version - 1),
            1_790_000_000_000L + version,
            operation,
            Map.of()),
        SCHEMA,
        SCHEMA.fields().stream().mapToInt(FieldSpec::id).max().orElseThrow() + 1,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(version, uuid(101 + version)), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 16);
  }

  private static ShardSummary writeShard(Storage storage) {
    WriteOptions options = WriteOptions.defaults()
        .withBlockBytes(4096)
        .withStripeBytes(1 << 20)
        .withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, uuid(1), SCHEMA, options)) {
      for (int i = 0; i < SLOTS; i++) {
        for (int field = 0; field < SCHEMA.fields().size(); field++) {
          Optional<byte[]> value = GoldenDataset.value(SCHEMA.fields().get(field), i);
          if (value.isPresent()) {
            writer.put(field, value.get(), 0, value.get().length);
          }
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static String values() {
    List<Place> places = places(2);
    List<Integer> records = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      records.add(i);
    }
    StringBuilder json = new StringBuilder("{\n\"dataset\": \"v2-patches\",\n\"version\": 2,\n")
        .append("\"records\": ")
        .append(records)
        .append(",\n\"values\": {\n");
    String before = "";
    for (FieldSpec field : SCHEMA.fields()) {
      List<String> values = new ArrayList<>();
      for (Place place : places) {
        values.add(value(field, place, 2)
            .map(value -> '"' + HexFormat.of().formatHex(value) + '"')
            .orElse("null"));
      }
      json.append(before).append('"').append(field.name()).append("\": ").append(values);
      before = ",\n";
    }
    return json.append("\n}\n}\n").toString();
  }
}
