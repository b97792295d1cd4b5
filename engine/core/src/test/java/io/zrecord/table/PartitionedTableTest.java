package io.zrecord.table;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.read.IndexSet;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.rebalance.RebalancePlan;
import io.zrecord.rebalance.TableRebalance;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.PartitionText;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Shards of partitions: what is written, refused and read. */
final class PartitionedTableTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("value", ElementType.I64)
      .field("day", ElementType.DATE)
      .field("kind", ElementType.UTF8)
      .build();
  private static final List<Integer> PARTITIONS = List.of(2, 3);
  private static final int DAY = 20_455;

  private Storage storage = new MemoryStorage();
  private RecordTable table = RecordTable.at(storage);

  private static FieldSpec field(ElementType type) {
    return RecordSchema.builder().field("p", type).build().fields().get(0);
  }

  private ShardWriter writer(@Nullable String... partition) {
    return ShardWriter.create(
        storage,
        UUID.randomUUID(),
        SCHEMA,
        WriteOptions.defaults().withStripeBytes(1 << 16),
        PARTITIONS,
        Arrays.asList(partition));
  }

  /** Writes a shard of the partition of some days after the first, and a kind. */
  private ShardSummary shard(int days, @Nullable String kind, long... values) {
    String day = PartitionText.of(SCHEMA.fields().get(1), dayBytes(days));
    try (ShardWriter writer = writer(day, kind)) {
      for (long value : values) {
        writer.putLong(0, value);
        writer.putInt(1, DAY + days);
        if (kind != null) {
          byte[] text = kind.getBytes(UTF_8);
          writer.put(2, text, 0, text.length);
        }
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private static byte[] dayBytes(int days) {
    int day = DAY + days;
    return new byte[] {(byte) day, (byte) (day >> 8), (byte) (day >> 16), (byte) (day >> 24)};
  }

  private TableChange change(TableChange.Kind kind, ShardSummary... shards) {
    return Shards.change(kind, OptionalLong.empty(), SCHEMA, List.of(shards));
  }

  private TableSnapshot create(ShardSummary... shards) {
    return table.commit(change(TableChange.Kind.CREATE, shards).partitionedBy(PARTITIONS));
  }

  @Test
  void recordsOfSomePartitionsAreFound() {
    create(shard(0, "a", 1, 2), shard(1, "a", 3), shard(1, null, 4, 5, 6), shard(2, "é", 7));
    TableSnapshot snapshot = table.latest();
    assertThat(snapshot.partitionFields())
        .extracting(FieldSpec::name)
        .containsExactly("day", "kind");
    assertThat(snapshot.shards().get(0).partition()).containsExactly("2026-01-02", "a");
    assertThat(snapshot.shards().get(2).partition()).containsExactly("2026-01-03", null);
    assertThat(snapshot.indicesOf(partition -> "a".equals(partition.get(1))))
        .isEqualTo(IndexSet.range(0, 3));
    assertThat(snapshot.indicesOf(partition -> partition.get(1) == null))
        .isEqualTo(IndexSet.range(3, 6));
    assertThat(snapshot.indicesOf(
            partition -> Objects.requireNonNull(partition.get(0)).compareTo("2026-01-03") > 0))
        .isEqualTo(IndexSet.range(6, 7));
  }

  /** A writer that knows no base may have met another table, or none. */
  @Test
  void shardsOfOtherPartitionFieldsAreRefused() {
    List<Integer> turned = List.of(3, 2);
    RecordSchema texts = RecordSchema.builder()
        .field("value", ElementType.I64)
        .field("a", ElementType.UTF8)
        .field("b", ElementType.UTF8)
        .build();
    for (List<Integer> ofTable : List.of(List.of(2), List.of(2, 3), List.<Integer>of())) {
      for (List<Integer> ofChange : List.of(List.of(3), turned)) {
        storage = new MemoryStorage();
        table = RecordTable.at(storage);
        TableSnapshot base = table.commit(Shards.change(
                TableChange.Kind.CREATE,
                OptionalLong.empty(),
                texts,
                List.of(shardOf(texts, ofTable)))
            .partitionedBy(ofTable));
        for (OptionalLong version : List.of(OptionalLong.empty(), OptionalLong.of(0))) {
          TableChange append = Shards.change(
              TableChange.Kind.APPEND, version, texts, List.of(shardOf(texts, ofChange)));
          assertThatThrownBy(() -> table.commit(append.partitionedBy(ofChange)))
              .as("%s on %s", ofChange, ofTable)
              .isInstanceOf(SchemaMismatchException.class)
              .hasMessageContaining(ofChange.size() == 1 ? "[b]" : "[b, a]")
              .hasMessageContaining(ofTable.isEmpty() ? "no partitions" : "[a")
              .hasMessageContaining("write the records again");
          assertThat(table.latest().version()).isEqualTo(base.version());
        }
        table.commit(Shards.change(
                TableChange.Kind.APPEND,
                OptionalLong.empty(),
                texts,
                List.of(shardOf(texts, ofTable)))
            .partitionedBy(ofTable));
        TableSnapshot replaced = table.commit(Shards.change(
                TableChange.Kind.OVERWRITE,
                OptionalLong.of(table.latest().version()),
                texts,
                List.of(shardOf(texts, ofChange)))
            .partitionedBy(ofChange));
        assertThat(replaced.partitionFields()).extracting(FieldSpec::id).isEqualTo(ofChange);
      }
    }
  }

  private ShardSummary shardOf(RecordSchema texts, List<Integer> partitions) {
    List<String> values =
        partitions.stream().map(id -> id == 2 ? "of a" : "of b").toList();
    try (ShardWriter writer = ShardWriter.create(
        storage, UUID.randomUUID(), texts, WriteOptions.defaults(), partitions, values)) {
      writer.putLong(0, 1);
      writer.put(1, "of a".getBytes(UTF_8), 0, 4);
      writer.put(2, "of b".getBytes(UTF_8), 0, 4);
      writer.endRecord();
      return writer.finish().orElseThrow();
    }
  }

  /** The kinds of lists take partitions too, with texts that need escapes. */
  @Test
  void partitionsStandInLists() {
    ShardSummary plain = shard(0, "a", 1);
    ShardSummary odd = shard(1, "\"é\\\n", 1);
    ShardSummary absent = shard(2, null, 1);
    create(plain, odd, absent);
    List<ShardSummary> expected = new ArrayList<>(List.of(plain, odd, absent));
    ShardSummary[] many = new ShardSummary[2000];
    Arrays.fill(many, plain);
    table.commit(change(TableChange.Kind.APPEND, many));
    expected.addAll(Arrays.asList(many));
    table.commit(change(TableChange.Kind.APPEND, absent));
    expected.add(absent);
    assertThat(storage.list("list")).isNotEmpty();
    assertThat(table.latest().shards()).isEqualTo(expected);
    assertThat(table.latest().indicesOf(partition -> partition.get(1) == null).count())
        .isEqualTo(2);
  }

  @Test
  void aValueOfAnotherPartitionIsRefused() {
    refuses(writer -> writer.putInt(1, DAY + 1));
    refuses(writer -> writer.put(1, dayBytes(1), 0, 4));
    refuses(writer -> writer.put(2, "b".getBytes(UTF_8), 0, 1));
    refuses(writer -> writer.put(2, new byte[0], 0, 0));
    refuses(writer -> {
      writer.putInt(1, DAY);
      writer.endRecord();
    });
    try (ShardWriter absent = writer("2026-01-02", null)) {
      assertThatThrownBy(() -> absent.put(2, new byte[0], 0, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("absent");
    }
  }

  private void refuses(java.util.function.Consumer<ShardWriter> put) {
    try (ShardWriter writer = writer("2026-01-02", "a")) {
      writer.putLong(0, 1);
      assertThatThrownBy(() -> put.accept(writer))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("partition");
    }
  }

  @Test
  void aShardWithoutAPartitionIsNotCommitted() {
    create(shard(0, "a", 1));
    ShardSummary without = shard(0, "a", 1).withPartition(List.of());
    ShardSummary wrong = shard(0, "a", 1).withPartition(Arrays.asList("2026-1-2", "a"));
    for (ShardSummary shard : List.of(without, wrong)) {
      assertThatThrownBy(() -> table.commit(change(TableChange.Kind.APPEND, shard)))
          .isInstanceOf(SchemaMismatchException.class)
          .hasMessageContaining(shard.id().toString());
    }
    assertThat(table.latest().version()).isZero();
  }

  @Test
  void aShardOfAPartitionIsNotCommittedToATableWithoutPartitions() {
    assertThatThrownBy(() -> table.commit(change(TableChange.Kind.CREATE, shard(0, "a", 1))))
        .isInstanceOf(SchemaMismatchException.class);
    assertThat(table.exists()).isFalse();
  }

  @Test
  void partitionFieldsAreSingleExactValues() {
    for (ElementType type : List.of(ElementType.F32, ElementType.F64, ElementType.BYTES)) {
      assertThat(PartitionText.isAllowed(field(type))).isFalse();
      assertThatThrownBy(() -> PartitionText.of(field(type), new byte[8]))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThat(PartitionText.isAllowed(
            new FieldSpec(1, "x", ElementType.I32, Shape.of(2), Compression.RAW)))
        .isFalse();
    assertThatThrownBy(() -> table.commit(
            change(TableChange.Kind.CREATE, shard(0, "a", 1)).partitionedBy(List.of(2, 9))))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("field 9");
    assertThatThrownBy(() -> table.commit(
            change(TableChange.Kind.CREATE, shard(0, "a", 1)).partitionedBy(List.of(2, 2))))
        .isInstanceOf(SchemaMismatchException.class);
  }

  @Test
  void eachValueHasOneText() {
    requireText(ElementType.BOOL, "true", 1);
    requireText(ElementType.I8, "-128", 0x80);
    requireText(ElementType.U8, "128", 0x80);
    requireText(ElementType.I64, "-1", 255, 255, 255, 255, 255, 255, 255, 255);
    requireText(ElementType.U64, "18446744073709551615", 255, 255, 255, 255, 255, 255, 255, 255);
    requireText(ElementType.DATE, "1969-12-31", 255, 255, 255, 255);
    requireText(
        ElementType.TIMESTAMP,
        "1969-12-31T23:59:59.999999Z",
        255,
        255,
        255,
        255,
        255,
        255,
        255,
        255);
    requireText(ElementType.TIMESTAMP_NTZ, "1970-01-01T00:00:00.000001", 1, 0, 0, 0, 0, 0, 0, 0);
    requireText(ElementType.UTF8, "é", 0xc3, 0xa9);
    requireText(ElementType.UTF8, "");
    byte[] decimal = new byte[field(ElementType.decimal(9, 2)).valueWidthBytes().orElseThrow()];
    decimal[0] = 5;
    assertThat(PartitionText.of(field(ElementType.decimal(9, 2)), decimal)).isEqualTo("0.05");
    assertThat(PartitionText.parse(field(ElementType.decimal(9, 2)), "0.05")).isEqualTo(decimal);
  }

  private static void requireText(ElementType type, String text, int... bytes) {
    byte[] value = new byte[bytes.length];
    for (int i = 0; i < bytes.length; i++) {
      value[i] = (byte) bytes[i];
    }
    assertThat(PartitionText.of(field(type), value)).isEqualTo(text);
    assertThat(PartitionText.parse(field(type), text)).isEqualTo(value);
  }

  @Test
  void noOtherTextIsAccepted() {
    Map<ElementType, List<String>> refused = Map.of(
        ElementType.BOOL,
        List.of("1", "TRUE", ""),
        ElementType.I32,
        List.of("01", "+1", "-0", "1.0", "1e2", "2147483648", "", " 1"),
        ElementType.U8,
        List.of("-1", "256"),
        ElementType.DATE,
        List.of("2026-1-2", "2026-02-30", "+10000-01-01", "-0001-01-01"),
        ElementType.TIMESTAMP,
        List.of("2026-01-02T00:00:00Z", "2026-01-02T00:00:00.000000"),
        ElementType.TIMESTAMP_NTZ,
        List.of("2026-01-02T00:00:00.000000Z", "2026-01-02"),
        ElementType.decimal(9, 2),
        List.of("1", "1.0", "1.001", "0.050"),
        ElementType.UTF8,
        List.of("x".repeat(1025), "\ud800"));
    refused.forEach((type, texts) ->
        texts.forEach(text -> assertThatThrownBy(() -> PartitionText.parse(field(type), text))
            .as("%s of %s", text, type)
            .isInstanceOf(IllegalArgumentException.class)));
  }

  /** Small shards are joined with neighbours of their partition only. */
  @Test
  void aRebalanceKeepsPartitionsApart() {
    create(
        shard(0, "a", 1), shard(0, "a", 2), shard(1, "a", 3), shard(1, "a", 4), shard(1, null, 5));
    TableRebalance.of(RebalancePlan.of(table.latest(), RebalanceOptions.defaults()))
        .run();
    TableSnapshot after = table.latest();
    assertThat(after.version()).isPositive();
    assertThat(after.shards()).extracting(ShardSummary::length).containsExactly(2L, 2L, 1L);
    assertThat(after.shards())
        .extracting(ShardSummary::partition)
        .containsExactly(
            Arrays.asList("2026-01-02", "a"),
            Arrays.asList("2026-01-03", "a"),
            Arrays.asList("2026-01-03", null));
  }

  @Test
  void aReplacementOfAnotherPartitionIsRefused() {
    ShardSummary first = shard(0, "a", 1);
    TableSnapshot base = create(first);
    TableChange change = TableChange.rebalance(
        base,
        0,
        SCHEMA,
        List.of(new TableChange.Replacement(List.of(first), List.of(shard(1, "a", 1)))),
        Map.of());
    assertThatThrownBy(() -> table.commit(change))
        .isInstanceOf(SchemaMismatchException.class)
        .hasMessageContaining("different partitions");
  }

  @Test
  void anOverwriteChoosesPartitionsAnew() {
    create(shard(0, "a", 1));
    table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
        .base(table.latest())
        .shards(List.of(shard(0, "a", 1).withPartition(List.of("a"))))
        .partitionedBy(List.of(3))
        .build());
    assertThat(table.latest().partitionFields())
        .extracting(FieldSpec::name)
        .containsExactly("kind");
  }

  @Test
  void aChangeOfShardsConflictsWithAnOverwriteThatChoosesOtherPartitions() {
    ShardSummary first = shard(0, "a", 1, 2);
    TableSnapshot base = create(first);
    RowChange deletion = RowChange.of(base);
    deletion.delete(0);
    TableChange rebalance = TableChange.rebalance(
        base,
        0,
        SCHEMA,
        List.of(new TableChange.Replacement(List.of(first), List.of(shard(0, "a", 1, 2)))),
        Map.of());
    table.commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
        .base(base)
        .shards(List.of(shard(0, "a", 3).withPartition(List.of("a"))))
        .partitionedBy(List.of(3))
        .build());
    assertThatThrownBy(deletion::commit).isInstanceOf(CommitConflictException.class);
    assertThatThrownBy(() -> table.commit(rebalance)).isInstanceOf(CommitConflictException.class);
    assertThat(table.latest().version()).isEqualTo(1);
    assertThat(table.latest().length()).isEqualTo(1);
  }

  @Test
  void aShardOfTooFewPartitionValuesIsDamage() throws IOException {
    create(shard(0, "a", 1));
    String name = "manifest/00000000000000000000.json";
    assertThat(new String(storage.read(name, 1 << 20), UTF_8))
        .contains("\"partitions\":[2,3]")
        .contains("\"partition\":[\"2026-01-02\",\"a\"]");
    String text = new String(storage.read(name, 1 << 20), UTF_8)
        .replace("\"partition\":[\"2026-01-02\",\"a\"]", "\"partition\":[\"2026-01-02\"]");
    ObjectNode node = (ObjectNode) new ObjectMapper().readTree(text);
    node.remove("crc32c");
    storage.delete(name);
    storage.publish(name, SealedJson.seal(node));
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("partition values");
  }

  @Test
  void verifyComparesValuesAndPartitions(@TempDir Path directory) {
    storage = LocalStorage.at(directory);
    table = RecordTable.at(storage);
    ShardSummary sound = shard(0, "a", 1, 2);
    create(sound, shard(1, null, 3));
    assertThat(DatasetCheck.of(directory.toString()).run(finding -> {}).isSound())
        .isTrue();
    // A commit does not read values: the shard is said to be of a partition that it is not of.
    ShardSummary other = shard(1, "b", 4).withPartition(Arrays.asList("2026-01-03", "a"));
    ShardSummary absent = shard(1, null, 4).withPartition(Arrays.asList("2026-01-03", "a"));
    ShardSummary present = shard(1, "b", 4).withPartition(Arrays.asList("2026-01-03", null));
    for (ShardSummary wrong : List.of(other, absent, present)) {
      table.commit(change(TableChange.Kind.APPEND, wrong));
    }
    List<Finding> findings = new ArrayList<>();
    assertThat(DatasetCheck.of(directory.toString()).run(findings::add).isSound())
        .isFalse();
    assertThat(findings).extracting(Finding::firstIndex).containsExactly(3L, 4L, 5L);
    assertThat(findings).extracting(Finding::field).containsOnly("kind");
  }
}
