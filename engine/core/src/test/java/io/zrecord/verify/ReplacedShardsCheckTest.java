package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.ListLimits;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.internal.table.TinyLists;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableChange;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A check of versions that share a list and have replaced different shards of it. */
final class ReplacedShardsCheckTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("value", ElementType.I64).build();

  @TempDir
  Path directory;

  private RecordTable table;

  /** Makes five versions: shards in a list, and changes of each of two of these. */
  @BeforeEach
  void changeShardsOfAList() throws Exception {
    Storage storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      shards.add(shard(storage));
    }
    TinyLists.run(new ListLimits(8, 2, 2, 50), () -> {
      table.commit(
          TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
      for (int record : new int[] {0, 10, 1, 11}) {
        RowChange change = RowChange.of(table.latest());
        change.delete(record);
        change.commit();
      }
    });
    assertThat(storage.list("list")).hasSize(1);
    ManifestLog log = new ManifestLog(storage);
    assertThat(log.read(4).lists().get(0).replaced().ordinals()).containsExactly(0, 1);
  }

  private static ShardSummary shard(Storage storage) {
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      for (int i = 0; i < 10; i++) {
        writer.putLong(0, i);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private List<Finding> findings() {
    return findings(directory);
  }

  private static List<Finding> findings(Path path) {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    return findings;
  }

  @Test
  void findsNothingInASoundTable() {
    assertThat(findings()).isEmpty();
  }

  @Test
  void findsThePatchOfEachVersion() throws IOException {
    for (int version = 1; version <= 4; version++) {
      ShardSummary shard = table.version(version).shards().get((version - 1) % 2);
      PatchRef patch = Objects.requireNonNull(shard.patch());
      Path file = directory.resolve(shard.directory()).resolve(patch.fileName());
      Path aside = directory.resolve("aside");
      Files.move(file, aside);
      assertThat(findings())
          .isNotEmpty()
          .allSatisfy(
              finding -> assertThat(finding.file() + finding.problem()).contains(patch.fileName()));
      Files.move(aside, file);
    }
  }

  @Test
  void findsAShardThatOnlyTheFirstVersionHasUnreplaced() throws IOException {
    ShardSummary shard = table.version(0).shards().get(1);
    Path file =
        directory.resolve(shard.directory()).resolve(shard.tables().get(0).fileName());
    Files.delete(file);
    assertThat(findings()).isNotEmpty();
  }

  /** The newer version names the same list as the file has it. */
  @Test
  void findsThatAVersionCountsMoreShardsThanTheFileOfAListHas() throws Exception {
    Path path = directory.resolve("counts");
    Storage storage = LocalStorage.at(path);
    RecordTable counted = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < 9; i++) {
      shards.add(shard(storage));
    }
    TinyLists.run(new ListLimits(8, 2, 2, 50), () -> {
      counted.commit(
          TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
      counted.commit(TableChange.of(TableChange.Kind.APPEND, SCHEMA)
          .shards(List.of(shard(storage)))
          .build());
    });
    assertThat(findings(path)).isEmpty();
    Path file = path.resolve(ManifestNames.nameOf(0));
    ObjectNode manifest = (ObjectNode) new ObjectMapper().readTree(Files.readAllBytes(file));
    manifest.remove("crc32c");
    ObjectNode list = (ObjectNode) manifest.get("lists").get(0);
    list.put("shards", list.get("shards").intValue() + 1);
    list.put("length", list.get("length").intValue() + 1);
    manifest.put("length", manifest.get("length").intValue() + 1);
    Files.write(file, SealedJson.seal(manifest));
    assertThat(findings(path))
        .anySatisfy(finding -> assertThat(finding.problem()).contains("but the manifest says 9"));
  }
}
