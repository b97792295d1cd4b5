package io.zrecord.internal.table;

import io.zrecord.internal.format.ManifestNames;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The tables under {@code golden/v2-versions}: versions of every operation that changes no records,
 * and a creation that was taken back. As with {@link GoldenDataset}, the files are written by
 * {@link #main}, and from the freeze of format 2 on never again.
 *
 * <ul>
 *   <li>{@code care}: two versions with records, tags of both, of which one was removed, an expiry
 *       of the first, a repair and a sweep. Version 0 has two tags, each with a copy.
 *   <li>{@code retracted}: there is no table, because its creation was taken back.
 *   <li>{@code created-again}: another table was created after that.
 *   <li>{@code dropped}: a table of two versions was dropped, and another one created after that.
 * </ul>
 */
final class GoldenVersions {
  static final Path DIRECTORY = Path.of("src/test/resources/golden/v2-versions");
  static final int RECORDS = 10;

  private static final long SWEPT_BEFORE_MILLIS = 1_789_740_800_000L;
  private static final long FIRST_MILLIS = 1_790_000_000_000L;
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  private final Storage storage;
  private final ManifestLog log;
  private final List<TagEntry> tags = new ArrayList<>();
  private List<ShardSummary> shards = List.of();
  private UUID table = uuid(1);
  private long version = -1;
  private RecordsVersion records = new RecordsVersion(-1, uuid(0));
  private long oldest;
  private OptionalLong sweptBeforeMillis = OptionalLong.empty();

  private GoldenVersions(Path directory) {
    storage = LocalStorage.at(directory);
    log = new ManifestLog(storage);
  }

  /** Writes the tables below a directory that does not exist. */
  public static void main(String[] arguments) {
    write(Path.of(arguments[0]));
  }

  static void write(Path directory) {
    new GoldenVersions(directory.resolve("care")).care();
    new GoldenVersions(directory.resolve("retracted")).retracted();
    GoldenVersions again = new GoldenVersions(directory.resolve("created-again"));
    again.retracted();
    again.createdAgain();
    new GoldenVersions(directory.resolve("dropped")).dropped();
  }

  private void care() {
    shards = List.of(shard(11, 0));
    commit("create");
    shards = List.of(shards.get(0), shard(12, RECORDS));
    commit("append");
    tag("first", 0, 21);
    tag("also-first", 0, 22);
    tag("second", 1, 23);
    tag("wrong", 1, 24);
    untag("wrong");
    oldest = 1;
    commit("expire");
    storage.delete(ManifestNames.nameOf(0));
    commit("repair");
    sweptBeforeMillis = OptionalLong.of(SWEPT_BEFORE_MILLIS);
    commit("sweep");
  }

  /** Leaves the manifest that says so, and no other file. */
  private void retracted() {
    commit("create");
    shards = List.of();
    oldest = 1;
    commit("retract");
    storage.delete(ManifestNames.nameOf(0));
  }

  /** Keeps the manifest of the drop, which says how old the files of the dropped table were. */
  private void dropped() {
    commit("create");
    commit("append");
    oldest = 2;
    sweptBeforeMillis = OptionalLong.of(SWEPT_BEFORE_MILLIS);
    commit("retract");
    storage.delete(ManifestNames.nameOf(0));
    storage.delete(ManifestNames.nameOf(1));
    table = uuid(2);
    shards = List.of(shard(11, 0));
    oldest = 3;
    commit("create");
  }

  private void createdAgain() {
    table = uuid(2);
    shards = List.of(shard(11, 0));
    oldest = 2;
    commit("create");
  }

  private void tag(String name, long tagged, int copy) {
    tags.add(GoldenDataset.tag(
        storage, name, tagged, "tag/" + uuid(copy) + ".json", FIRST_MILLIS + version + 1));
    tags.sort(Comparator.comparing(TagEntry::name));
    commit("tag");
  }

  private void untag(String name) {
    TagEntry removed =
        tags.stream().filter(tag -> tag.name().equals(name)).findFirst().orElseThrow();
    tags.remove(removed);
    commit("untag");
    storage.delete(removed.file());
  }

  private void commit(String operation) {
    version++;
    UUID commit = commit(version);
    if (!Manifest.CARE.contains(operation)) {
      records = new RecordsVersion(version, commit);
    }
    boolean isBeginning = operation.equals("create");
    log.publish(new Manifest(
        new Manifest.Head(
            table,
            version,
            commit,
            version == 0 ? Optional.empty() : Optional.of(commit(version - 1)),
            isBeginning ? OptionalLong.empty() : OptionalLong.of(version - 1),
            FIRST_MILLIS + version,
            operation,
            Map.of()),
        SCHEMA,
        2,
        List.of(),
        shards,
        Map.of(),
        Optional.empty(),
        new Manifest.Retention(records, oldest, List.copyOf(tags), sweptBeforeMillis)));
  }

  private ShardSummary shard(int id, long firstValue) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, uuid(id), SCHEMA, options)) {
      for (int i = 0; i < RECORDS; i++) {
        writer.putLong(0, firstValue + i);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static UUID commit(long version) {
    return uuid(100 + (int) version);
  }

  private static UUID uuid(int number) {
    return new UUID(0x4000L | (long) number << 32, 0x8000_0000_0000_0000L | number);
  }
}
