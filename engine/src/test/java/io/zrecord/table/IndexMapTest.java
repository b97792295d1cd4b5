package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Checksum;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Cases;
import io.zrecord.verify.CheckSummary;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The map from old to new indices: untrusted, checked, and removed with its version, never before.
 */
final class IndexMapTest {
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(2)).withMode(CareMode.DELETE);

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2)));
    table.commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 3, 4)));
  }

  private IndexMap commit(RecordSchema schema, long... newIndices) {
    ShardSummary records = Shards.write(storage, Shards.SCHEMA, 4, 3, 2, 1);
    ShardSummary map = Shards.write(storage, schema, newIndices);
    return table
        .commit(TableChange.relayout(table.latest(), List.of(records), map, Map.of()))
        .indexMap()
        .orElseThrow();
  }

  private List<Finding> findings() {
    List<Finding> findings = new ArrayList<>();
    CheckSummary summary = DatasetCheck.of(storage.location()).run(findings::add);
    assertThat(summary.isSound()).isEqualTo(findings.isEmpty());
    return findings;
  }

  @Test
  void aSoundMapIsReadAndChecked() {
    IndexMap map = commit(IndexMap.SCHEMA, 3, 2, 1, 0);
    assertThat(LongStream.range(0, 4).map(map::newIndex).toArray()).containsExactly(3, 2, 1, 0);
    assertThat(findings()).isEmpty();
  }

  @Test
  void anIndexThatIsGivenTwiceIsFound() {
    commit(IndexMap.SCHEMA, 3, 2, 2, 0);
    List<Finding> findings = findings();
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0).kind()).isEqualTo(Finding.Kind.INDEX_MAP);
    assertThat(findings.get(0).problem()).contains("new index 2;");
  }

  @ParameterizedTest
  @ValueSource(longs = {-1, 4, Long.MIN_VALUE, Long.MAX_VALUE})
  void anIndexOutOfRangeIsCorrupt(long index) {
    IndexMap map = commit(IndexMap.SCHEMA, 3, index, 1, 0);
    assertThat(map.newIndex(0)).isEqualTo(3);
    assertThatThrownBy(() -> map.newIndex(1))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(map.directory())
        .hasMessageContaining("record 1")
        .hasMessageContaining("0 to 3");
    assertThat(findings()).extracting(Finding::kind).containsExactly(Finding.Kind.INDEX_MAP);
  }

  @Test
  void aMapOfAnotherKindIsATypedError() {
    RecordSchema doubles =
        RecordSchema.builder().field("newIndex", ElementType.F64).build();
    requireRefused(Shards.write(storage, doubles, 3, 2, 1, 0), "its fields are not those");
    FieldSpec another = new FieldSpec(
        2, IndexMap.FIELD, ElementType.I64, Shape.scalar(), Compression.RAW, Map.of());
    RecordSchema renumbered = new RecordSchema(List.of(another));
    requireRefused(Shards.write(storage, renumbered, 3, 2, 1, 0), "its fields are not those");
  }

  /** A wrong index could not be told from a right one. */
  @Test
  void aMapWithoutChecksumsIsATypedError() {
    WriteOptions unchecked = WriteOptions.defaults().withChecksum(Checksum.NONE);
    try (ShardWriter writer =
        ShardWriter.create(storage, UUID.randomUUID(), IndexMap.SCHEMA, unchecked)) {
      for (long index = 0; index < 4; index++) {
        writer.putLong(0, index);
        writer.endRecord();
      }
      requireRefused(writer.finish().orElseThrow(), "it has no checksums");
    }
  }

  /** Requires a refusal, also when a manifest names the map without being asked. */
  private void requireRefused(ShardSummary map, String reason) {
    ShardSummary records = Shards.write(storage, Shards.SCHEMA, 4, 3, 2, 1);
    TableChange change = TableChange.relayout(table.latest(), List.of(records), map, Map.of());
    assertThatThrownBy(() -> table.commit(change))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(reason);
    long version = table.latest().version();
    commit(IndexMap.SCHEMA, 3, 2, 1, 0);
    forge(version + 1, map);
    IndexMap forged = table.latest().indexMap().orElseThrow();
    assertThatThrownBy(() -> forged.newIndex(0))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(reason);
    assertThat(findings())
        .anyMatch(finding ->
            finding.kind() == Finding.Kind.INDEX_MAP && finding.problem().contains(reason));
  }

  /** Returns the map as a manifest names it, whose sets of fields are those of its own shard. */
  private static JsonNode mapJson(ObjectNode manifest, ShardSummary map) {
    TablesRef tables = map.tables().get(0);
    ArrayNode sets = (ArrayNode) manifest.get("fieldSets");
    ArrayNode set = sets.addArray();
    tables.fieldIds().forEach(set::add);
    ObjectNode shard = manifest
        .objectNode()
        .put("uuid", map.id().toString())
        .put("length", manifest.get("length").longValue());
    ArrayNode chunks = shard.putArray("chunks");
    map.chunks().forEach(chunk -> chunks.addArray().add(chunk.id().toString()).add(chunk.bytes()));
    shard
        .putArray("tables")
        .addArray()
        .add(tables.id().toString())
        .add(tables.bytes())
        .add(tables.jsonPosition())
        .add(tables.jsonBytes())
        .add(HexFormat.of().toHexDigits(tables.jsonChecksum()))
        .add(sets.size() - 1);
    shard.putArray("values");
    return shard;
  }

  /** Lets the manifest of a relayout name another map. */
  private void forge(long version, ShardSummary map) {
    Path manifest = Path.of(storage.location()).resolve(ManifestNames.nameOf(version));
    try {
      String text = Files.readString(manifest);
      String body = text.substring(0, text.lastIndexOf(",\"crc32c\""));
      JsonNode json = new ObjectMapper().readTree(body + "}");
      ((ObjectNode) json).set("indexMap", mapJson((ObjectNode) json, map));
      String changed = json.toString();
      Files.write(manifest, sealed(changed.substring(0, changed.length() - 1)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void aMapOfAnotherLengthIsRefused() throws IOException {
    assertThatThrownBy(() -> commit(IndexMap.SCHEMA, 2, 1, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the index map has 3");
    commit(IndexMap.SCHEMA, 3, 2, 1, 0);
    ShardSummary wrong = Shards.write(storage, IndexMap.SCHEMA, 2, 1, 0);
    Path manifest = Path.of(storage.location()).resolve("manifest/00000000000000000002.json");
    String text = Files.readString(manifest);
    String body = text.substring(0, text.lastIndexOf(",\"crc32c\""));
    int at = body.lastIndexOf("\"indexMap\"");
    String changed =
        body.substring(0, at) + body.substring(at).replace("\"length\":4", "\"length\":3");
    Files.write(manifest, sealed(changed));
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("its index map has 3 records, but the version has 4");
    // Nor does it help to lie about the length of a shorter one.
    Files.writeString(manifest, text);
    forge(2, wrong);
    IndexMap map = table.latest().indexMap().orElseThrow();
    assertThatThrownBy(() -> map.newIndex(0)).isInstanceOf(CorruptDataException.class);
    assertThat(findings()).extracting(Finding::kind).contains(Finding.Kind.INDEX_MAP);
  }

  private static byte[] sealed(String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    String seal =
        ",\"crc32c\":\"" + HexFormat.of().toHexDigits(Crc32c.of(body, 0, body.length)) + "\"}\n";
    return (json + seal).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Bits all over a file of the map, one after the other: what is read is right, or the damage is
   * named.
   */
  @ParameterizedTest
  @ValueSource(strings = {".zr", ".tables"})
  void aFlippedBitIsFound(String suffix) throws IOException {
    IndexMap sound = commit(IndexMap.SCHEMA, 3, 2, 1, 0);
    ShardSummary shard = sound.shard();
    String file = suffix.equals(".zr")
        ? shard.chunks().get(0).fileName()
        : shard.tables().get(0).fileName();
    Path damaged = Path.of(storage.location()).resolve(sound.directory()).resolve(file);
    byte[] content = Files.readAllBytes(damaged);
    int found = 0;
    for (long bit : Cases.before(content.length * 8L)) {
      byte[] flipped = content.clone();
      flipped[(int) (bit / 8)] ^= (byte) (1 << (bit % 8));
      // A file of its own each time, for open ones are shared.
      Path copy = directory.resolve("copy-" + file.hashCode() + "-" + bit);
      copy(Path.of(storage.location()), copy);
      Files.write(copy.resolve(sound.directory()).resolve(file), flipped);
      List<Finding> findings = new ArrayList<>();
      DatasetCheck.of(copy.toString()).run(findings::add);
      IndexMap map = RecordTable.at(LocalStorage.at(copy)).latest().indexMap().orElseThrow();
      try {
        assertThat(LongStream.range(0, 4).map(map::newIndex).toArray()).containsExactly(3, 2, 1, 0);
      } catch (ZRecordException e) {
        assertThat(findings).as("bit " + bit).isNotEmpty();
        found++;
      }
    }
    assertThat(found).isPositive();
  }

  private static void copy(Path from, Path to) throws IOException {
    try (var files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else {
          Files.copy(file, target);
        }
      }
    }
  }

  @Test
  void aMissingMapIsNamedAndTheRecordsAreReadWithoutIt() {
    IndexMap map = commit(IndexMap.SCHEMA, 3, 2, 1, 0);
    storage.delete(map.directory());
    assertThatThrownBy(() -> table.latest().indexMap().orElseThrow().newIndex(0))
        .isInstanceOf(ZRecordException.class)
        .hasMessageContaining(map.directory());
    assertThat(table.latest().length()).isEqualTo(4);
    assertThat(findings()).extracting(Finding::kind).contains(Finding.Kind.INDEX_MAP);
  }

  @Test
  void aMapIsNoOrphanWhileItsVersionIsThereAndOneAfterwards() {
    TableModel model = new TableModel(directory.resolve("model"));
    model.append(5);
    // Committed by hand, for time is simulated.
    String map = model
        .table
        .commit(TableChange.relayout(
            model.table.latest(),
            List.of(Shards.write(model.storage, Shards.SCHEMA, 4, 3, 2, 1, 0)),
            Shards.write(model.storage, IndexMap.SCHEMA, 4, 3, 2, 1, 0),
            Map.of()))
        .indexMap()
        .orElseThrow()
        .directory();
    model.stamp();
    Shards.write(model.storage, Shards.SCHEMA, 1);
    model.table.commit(
        Shards.append(OptionalLong.of(1), Shards.write(model.storage, Shards.SCHEMA, 6)));
    model.pass(Duration.ofDays(30));

    SweepResult first = model.table.sweep(SWEEP, orphan -> {});
    assertThat(first.fileCount()).isPositive();
    assertThat(model.storage.exists(map)).isTrue();
    assertThat(model.table.version(1).indexMap().orElseThrow().newIndex(0)).isEqualTo(4);

    ExpireOptions keepTagged = ExpireOptions.defaults();
    model.table.tag(1, "shuffled");
    assertThat(model.table.expire(keepTagged).expired()).containsExactly(0L);
    model.pass(Duration.ofDays(30));
    model.table.sweep(SWEEP, orphan -> {});
    assertThat(model.storage.exists(map)).isTrue();

    model.table.untag("shuffled");
    assertThat(model.table.versions()).doesNotContain(1L);
    model.pass(Duration.ofDays(30));
    model.table.sweep(SWEEP, orphan -> {});
    assertThat(model.storage.exists(map)).isFalse();
    assertThat(model.table.latest().length()).isEqualTo(6);
    assertThat(model.storage.list("shard"))
        .hasSize(model.table.latest().shards().size());
  }
}
