package io.zrecord.internal.table;

import io.zrecord.internal.format.Origins;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.internal.shard.write.PatchWithoutFields;
import io.zrecord.internal.shard.write.Patches;
import io.zrecord.internal.shard.write.ShardFilesWriter;
import io.zrecord.internal.values.ValueBytes;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldRules;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardFields;
import java.io.IOException;
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
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.IntStream;

/**
 * The table under {@code golden/v2-rewritten}: fields of shards with patches are rewritten. Version
 * 1 changes records of both shards, and deletes some of the first. Version 2 rewrites some fields:
 * the patch of the first shard loses their values, and nothing is left of that of the second.
 * Version 3 changes and deletes records of the first shard again. Version 4 does so, too, and the
 * new values of a field, which are taken for too many, are in a tables file that says to which
 * slots its commit gave values.
 *
 * <p>The files in the repository are written by {@link #main}, like those of {@link GoldenDataset}.
 */
final class GoldenRewrites {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-rewritten");
  static final int NEWEST = 4;
  private static final int SLOTS = 40;

  private static final FieldSpec NUMBER = field(1, "number", ElementType.I32, "raw");
  private static final FieldSpec TEXT = field(2, "text", ElementType.UTF8, "raw");
  private static final FieldSpec ZIPPED = field(3, "zipped", ElementType.BYTES, "zstd:3");
  private static final FieldSpec BLOCKS = field(4, "blocks", ElementType.I64, "lz4:0");
  private static final FieldSpec DENSE =
      field(5, "dense", ElementType.I16, "raw").withRules(FieldRules.NONE.withNullable(false));
  static final RecordSchema SCHEMA = new RecordSchema(List.of(NUMBER, TEXT, ZIPPED, BLOCKS, DENSE));

  /** What version 2 rewrites. */
  private static final RecordSchema REWRITTEN = new RecordSchema(List.of(TEXT, BLOCKS, DENSE));

  /** What version 4 gives so many values that they are in a tables file. */
  private static final RecordSchema WIDE = new RecordSchema(List.of(TEXT));

  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);

  private GoldenRewrites() {}

  /** A record of a version: the numbers of its shard and of its slot. */
  record Place(int shard, int slot) {}

  /** Writes the table, and the files of values beside it, into a directory without them. */
  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    write(directory.resolve("v2-rewritten"));
    for (int version = 2; version <= NEWEST; version++) {
      Files.writeString(
          directory.resolve("v2-rewritten-" + version + "-values.json"), values(version));
    }
  }

  private static FieldSpec field(int id, String name, ElementType type, String compression) {
    return new FieldSpec(id, name, type, Shape.scalar(), Compression.parse(compression));
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

  private static Set<Integer> deletedBy(int version) {
    return switch (version) {
      case 1 -> Set.of(0, 17, 18, 39);
      case 3 -> Set.of(1, 20);
      case NEWEST -> Set.of(5);
      default -> Set.of();
    };
  }

  private static boolean isDeleted(int version, int shard, int slot) {
    boolean isDeleted = false;
    for (int v = 1; v <= version; v++) {
      isDeleted |= shard == 0 && deletedBy(v).contains(slot);
    }
    return isDeleted;
  }

  /** Returns the value of a record of a version; empty if it is absent. */
  static Optional<byte[]> value(FieldSpec field, Place place, int version) {
    int of = 0;
    for (int v = 1; v <= version; v++) {
      of = isChanged(field, place, v) ? v : of;
    }
    return GoldenDataset.value(field, (place.slot + 13 * of + 5 * place.shard) % SLOTS);
  }

  private static boolean isChanged(FieldSpec field, Place place, int version) {
    return switch (version) {
      case 1 ->
        place.shard == 0
            ? place.slot % 4 == 1 && !field.equals(DENSE)
            : place.slot % 5 == 2 && field.equals(TEXT);
      case 2 -> REWRITTEN.fields().contains(field);
      case 3 -> place.shard == 0 && place.slot % 6 == 1 && field.id() <= 3;
      case NEWEST ->
        place.shard == 0
            && (field.equals(TEXT)
                ? place.slot % 3 == 0
                : field.equals(NUMBER) && place.slot % 9 == 3);
      default -> false;
    };
  }

  static void write(Path directory) {
    Storage storage = LocalStorage.at(directory);
    List<ShardSummary> shards = new ArrayList<>();
    for (int shard = 0; shard < 2; shard++) {
      shards.add(writeFields(storage, uuid(1 + shard), shard, SCHEMA, 0));
    }
    ManifestLog log = new ManifestLog(storage);
    log.publish(manifest(0, "create", shards));
    shards.replaceAll(before -> patched(storage, before, shards.indexOf(before), 1));
    log.publish(manifest(1, "update", shards));
    shards.replaceAll(before -> rewritten(storage, before, shards.indexOf(before)));
    log.publish(manifest(2, "rewriteField", shards));
    shards.set(0, patched(storage, shards.get(0), 0, 3));
    log.publish(manifest(3, "update", shards));
    shards.set(0, changedWidely(storage, shards.get(0)));
    log.publish(manifest(NEWEST, "update", shards));
  }

  private static ShardSummary writeFields(
      Storage storage, UUID seed, int shard, RecordSchema schema, int version) {
    UUID id = uuid(1 + shard);
    try (ShardFilesWriter writer =
        new ShardFilesWriter(storage, "shard/" + id, id, seed, schema, OPTIONS)) {
      for (int slot = 0; slot < SLOTS; slot++) {
        for (int field = 0; field < schema.fields().size(); field++) {
          FieldSpec spec = schema.fields().get(field);
          byte[] value = !isDeleted(version, shard, slot)
              ? value(spec, new Place(shard, slot), version).orElse(null)
              : spec.rules().isNullable() ? null : ValueBytes.shortest(spec);
          if (value != null) {
            writer.column(field).put(value, 0, value.length);
          }
        }
        writer.endRecord();
      }
      return writer.seal(schema.equals(WIDE) ? widelyChanged() : new TreeMap<>(), Origins.NONE);
    }
  }

  /** Returns the slots to which version 4 gives texts, by the id of the field. */
  static SortedMap<Integer, long[]> widelyChanged() {
    long[] slots = IntStream.range(0, SLOTS)
        .filter(slot -> isChanged(TEXT, new Place(0, slot), NEWEST))
        .filter(slot -> !isDeleted(NEWEST, 0, slot))
        .mapToLong(slot -> slot)
        .toArray();
    return new TreeMap<>(Map.of(TEXT.id(), slots));
  }

  private static ShardSummary changedWidely(Storage storage, ShardSummary before) {
    ShardSummary patched = patched(storage, before, 0, NEWEST);
    ShardSummary left = PatchWithoutFields.write(
        storage,
        patched,
        Objects.requireNonNull(OpenShards.unshared(storage, patched).patch()),
        Set.of(TEXT.id()),
        uuid(80),
        PatchWithoutFields.Commit.SAME,
        Durability.NONE);
    storage.delete(patched.fileOf(Objects.requireNonNull(patched.patch())));
    ShardSummary added = writeFields(storage, uuid(81), 0, WIDE, NEWEST);
    return ShardFields.with(storage, left, added, Durability.NONE);
  }

  private static ShardSummary rewritten(Storage storage, ShardSummary before, int shard) {
    PatchFile patch =
        Objects.requireNonNull(OpenShards.unshared(storage, before).patch());
    ShardSummary left = PatchWithoutFields.write(
        storage,
        before,
        patch,
        Set.of(TEXT.id(), BLOCKS.id(), DENSE.id()),
        uuid(32 + shard),
        PatchWithoutFields.Commit.EARLIER,
        Durability.NONE);
    ShardSummary added = writeFields(storage, uuid(34 + shard), shard, REWRITTEN, 2);
    return ShardFields.with(storage, left, added, Durability.NONE);
  }

  private static ShardSummary patched(
      Storage storage, ShardSummary before, int shard, int version) {
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
    long[] deleted = shard > 0
        ? new long[0]
        : deletedBy(version).stream().mapToLong(Integer::longValue).sorted().toArray();
    int number = 16 * version + 4 * shard;
    return Patches.write(storage, before, uuid(number), uuid(number + 1), deleted, changes);
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
        SCHEMA.fields().size() + 1,
        List.of(),
        List.copyOf(shards),
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(new RecordsVersion(version, uuid(101 + version)), 0, List.of()));
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | (long) number << 16);
  }

  private static String values(int version) {
    List<Place> places = places(version);
    StringBuilder json = new StringBuilder("{\n\"dataset\": \"v2-rewritten\",\n\"version\": ")
        .append(version)
        .append(",\n\"records\": ")
        .append(IntStream.range(0, places.size()).boxed().toList())
        .append(",\n\"values\": {\n");
    String before = "";
    for (FieldSpec field : SCHEMA.fields()) {
      List<String> values = new ArrayList<>();
      for (Place place : places) {
        values.add(value(field, place, version)
            .map(value -> '"' + HexFormat.of().formatHex(value) + '"')
            .orElse("null"));
      }
      json.append(before).append('"').append(field.name()).append("\": ").append(values);
      before = ",\n";
    }
    return json.append("\n}\n}\n").toString();
  }
}
