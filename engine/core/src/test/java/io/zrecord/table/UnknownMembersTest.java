package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.RecordDataset;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.rebalance.GroupRewriter;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.ShardOnDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files of a later release: what it says beyond this release is kept, or is respected. */
final class UnknownMembersTest {
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String VALUE = "{\"deep\":[1.5,null,123456789012345678901234567890]}";

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;
  private UUID tableId;

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1, 2)));
    table.commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 3)));
    table.tag(0, "first");
    tableId = table.latest().tableId();
  }

  private Path manifest(long version) {
    return directory.resolve("manifest").resolve(String.format("%020d.json", version));
  }

  private static ObjectNode open(Path file) throws IOException {
    ObjectNode node = (ObjectNode) MAPPER.readTree(Files.readAllBytes(file));
    node.remove("crc32c");
    return node;
  }

  /** Changes a file as a later release would have written it. */
  private static void edit(Path file, Consumer<ObjectNode> change) throws IOException {
    ObjectNode node = open(file);
    change.accept(node);
    Files.write(file, SealedJson.seal(node));
  }

  private long newest() {
    return table.latest().version();
  }

  private static void addAll(ObjectNode manifest) {
    add(manifest);
    for (String array : List.of("fields", "shards", "tags", "lists")) {
      manifest.get(array).forEach(element -> add((ObjectNode) element));
    }
  }

  private static void add(ObjectNode node) {
    try {
      node.set("later", MAPPER.readTree(VALUE));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private void requireKept(JsonNode node) throws IOException {
    assertThat(node.get("later")).as(node.toString()).isEqualTo(MAPPER.readTree(VALUE));
  }

  private void requireKept() throws IOException {
    ObjectNode manifest = open(manifest(newest()));
    requireKept(manifest);
    requireKept(manifest.get("fields").get(0));
    requireKept(manifest.get("tags").get(0));
    requireKept(manifest.get("shards").get(0));
  }

  @Test
  void membersSurviveEveryCommit() throws IOException {
    edit(manifest(newest()), UnknownMembersTest::addAll);
    requireKept();
    table.commit(Shards.append(OptionalLong.of(newest()), Shards.write(storage, Shards.SCHEMA, 4)));
    requireKept();
    table.tag(1, "second");
    requireKept();
    table.untag("second");
    requireKept();
    table.expire(ExpireOptions.defaults().withKeepVersions(1).withOlderThan(Duration.ofHours(1)));
    requireKept();
    assertThat(table.latest().length()).isEqualTo(4);
  }

  @Test
  void aShardKeepsItsMembersInAList() throws IOException {
    edit(manifest(newest()), UnknownMembersTest::addAll);
    ShardSummary one = Shards.write(storage, Shards.SCHEMA, 5);
    List<ShardSummary> many = new ArrayList<>();
    for (int i = 0; i < 1000; i++) {
      many.add(one);
    }
    table.commit(Shards.append(OptionalLong.of(newest()), many.toArray(ShardSummary[]::new)));
    ObjectNode manifest = open(manifest(newest()));
    requireKept(manifest);
    Path list = directory.resolve(manifest.get("lists").get(0).get("file").textValue());
    requireKept(open(list).get("shards").get(0));
    assertThat(open(list).get("shards").get(999).has("later")).isFalse();

    // An entry of a list is taken over with its members.
    edit(manifest(newest()), node -> add((ObjectNode) node.get("lists").get(0)));
    table.tag(1, "other");
    requireKept(open(manifest(newest())).get("lists").get(0));
  }

  @ParameterizedTest
  @CsvSource({"read", "write"})
  void aTableWithAnUnknownFeatureIsNotChanged(String kind) throws IOException {
    edit(manifest(newest()), node -> node.putObject("features").putArray(kind).add("far"));
    requireUntouched("'far'");
    if (kind.equals("read")) {
      assertThatThrownBy(table::latest)
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("'far'");
    } else {
      assertThat(table.latest().length()).isEqualTo(3);
      assertThatThrownBy(table.latest()::requireWritable)
          .isInstanceOf(UnsupportedFormatException.class);
    }
  }

  @ParameterizedTest
  @CsvSource({"read", "write"})
  void aTableWithAnUnknownFeatureOfAFieldIsNotChanged(String kind) throws IOException {
    edit(
        manifest(newest()),
        node -> ((ObjectNode) node.get("fields").get(0))
            .putObject("features")
            .putArray(kind)
            .add("far"));
    requireUntouched("'far'");
    String name = Shards.SCHEMA.fields().get(0).name();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      assertThat(dataset.length()).isEqualTo(3);
      if (kind.equals("write")) {
        dataset.reader(name);
      } else {
        assertThat(dataset.schema().fields()).hasSize(Shards.SCHEMA.fields().size() - 1);
        assertThatThrownBy(() -> dataset.reader(name))
            .isInstanceOf(UnsupportedFormatException.class)
            .hasMessage("Cannot read field '" + name + "' of " + storage.location()
                + ": it uses the feature 'far', which this release does not know; upgrade zrecord");
      }
    }
  }

  private void requireUntouched(String feature) throws IOException {
    List<Path> before = files();
    List<Runnable> changes = List.of(
        () -> table.commit(
            Shards.append(OptionalLong.of(2), Shards.write(storage, Shards.SCHEMA, 4))),
        () -> table.tag(1, "x"),
        () -> table.untag("first"),
        () -> table.expire(ExpireOptions.defaults().withKeepVersions(1)),
        () -> table.sweep(SweepOptions.defaults(), orphan -> {}),
        () -> table.drop(tableId, DropOptions.defaults()),
        () -> RebalancePlan.of(table.latest(), RebalanceOptions.defaults()));
    for (Runnable change : changes) {
      assertThatThrownBy(change::run)
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining(feature);
    }
    assertThat(files()).containsAll(before);
    assertThat(manifest(3)).doesNotExist();
  }

  private List<Path> files() throws IOException {
    try (var walk = Files.walk(directory)) {
      return walk.toList();
    }
  }

  /** Adds a shard of one record that a later release wrote. */
  private void commitLaterShard(String kind) {
    ShardSummary written = Shards.write(storage, Shards.SCHEMA, 4);
    Path shard = directory.resolve(written.directory());
    ShardSummary later = ShardOnDisk.of(shard)
        .writeJson(node -> node.putObject("features").putArray(kind).add("far"));
    table.commit(Shards.append(OptionalLong.of(newest()), later));
  }

  @ParameterizedTest
  @CsvSource({"read", "write"})
  void aSweepDeletesNothingBesideAShardOfALaterRelease(String kind) throws IOException {
    SweepOptions options = SweepOptions.defaults().withMode(CareMode.DELETE);
    Path orphan = directory.resolve("list/11111111-1111-4111-8111-111111111111.json");
    Files.createDirectories(orphan.getParent());
    writeOld(orphan);
    table.sweep(options, found -> {});
    assertThat(orphan).doesNotExist();

    // With the shard the same sweep deletes nothing.
    writeOld(orphan);
    commitLaterShard(kind);
    assertThatThrownBy(() -> table.sweep(options, found -> {}))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'far'");
    assertThat(orphan).exists();
    assertThatThrownBy(() -> table.drop(tableId, DropOptions.defaults()))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'far'");
    assertThat(table.exists()).isTrue();
  }

  /** The sweep sees such a shard only when it looks at the versions again. */
  @ParameterizedTest
  @CsvSource({"read", "write"})
  void aSweepDeletesNothingBesideALaterShardThatCameMeanwhile(String kind) throws IOException {
    SweepOptions options = SweepOptions.defaults().withMode(CareMode.DELETE);
    Path orphan = directory.resolve("list/11111111-1111-4111-8111-111111111111.json");
    Files.createDirectories(orphan.getParent());
    writeOld(orphan);
    Storage interrupted = new ForwardingStorage(storage) {
      private boolean isCommitted;

      @Override
      public boolean publish(String name, byte[] content) {
        if (name.startsWith("manifest/") && !isCommitted) {
          isCommitted = true;
          commitLaterShard(kind);
        }
        return super.publish(name, content);
      }
    };
    assertThatThrownBy(() -> RecordTable.at(interrupted).sweep(options, found -> {}))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining("'far'");
    assertThat(orphan).exists();
  }

  private static void writeOld(Path file) throws IOException {
    Files.write(file, new byte[10]);
    Files.setLastModifiedTime(file, java.nio.file.attribute.FileTime.fromMillis(0));
  }

  @Test
  void aShardWithAFeatureForWritersIsNotRewritten() {
    commitLaterShard("write");
    RebalanceOptions options = RebalanceOptions.defaults();
    RebalancePlan plan = RebalancePlan.of(table.latest(), options);
    assertThat(plan.groups()).hasSize(1);
    try (GroupRewriter rewriter =
        new GroupRewriter(storage, plan.schema(), options, records -> {})) {
      assertThatThrownBy(() -> rewriter.rewrite(plan.groups().get(0)))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("'far'");
    }
  }

  @Test
  void aShardOfALaterReleaseCountsButIsNotRead() {
    commitLaterShard("read");
    String name = Shards.SCHEMA.fields().get(0).name();
    try (RecordDataset dataset = RecordDataset.open(directory.toString())) {
      assertThat(dataset.length()).isEqualTo(4);
      dataset.gather(new long[] {2}, name).close();
      assertThatThrownBy(() -> dataset.gather(new long[] {3}, name))
          .isInstanceOf(UnsupportedFormatException.class)
          .hasMessageContaining("'far'");
    }
  }
}
