package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.Budget;
import io.zrecord.verify.DatasetCheck;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Changes of shards that tasks write are one version, however many tasks there are. */
final class MergeChangeTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("number", ElementType.I64)
      .field("text", ElementType.UTF8)
      .build();
  private static final Set<String> BOTH = Set.of("number", "text");
  private static final int RECORDS = 1000;
  private static final int SHARDS = 3;

  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private RecordTable table;

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    table = RecordTable.at(storage);
    List<ShardSummary> shards = new ArrayList<>();
    for (int i = 0; i < SHARDS; i++) {
      shards.add(shard((long) i * RECORDS, RECORDS));
    }
    table.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA).shards(shards).build());
  }

  private ShardSummary shard(long first, int count) {
    WriteOptions options =
        WriteOptions.defaults().withStripeBytes(1 << 16).withDurability(Durability.NONE);
    try (ShardWriter writer = ShardWriter.create(storage, UUID.randomUUID(), SCHEMA, options)) {
      for (long i = first; i < first + count; i++) {
        writer.putLong(0, i);
        byte[] text = ("text " + i).getBytes(StandardCharsets.UTF_8);
        writer.put(1, text, 0, text.length);
        writer.endRecord();
      }
      return writer.finish().orElseThrow();
    }
  }

  private ShardChangeWriter writer(ShardSummary shard) {
    return ShardChangeWriter.open(storage, ChangeBase.of(table.latest()), shard, BOTH);
  }

  /** Returns what arrives of a change in another process. */
  private static ShardChange sent(ShardChange change) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(change);
      }
      int chunks = change.patched().chunkCount();
      // The shard is told before and after, with each of its chunks, and with no record.
      assertThat(bytes.size()).isLessThan(2500 + 150 * chunks);
      try (ObjectInputStream in =
          new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
        return (ShardChange) in.readObject();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }

  private static List<String> records(TableSnapshot version) {
    try (RecordDataset dataset =
        RecordDataset.open(version, RecordDataset.ReadOptions.defaults())) {
      int length = (int) dataset.length();
      long[] all = LongStream.range(0, length).toArray();
      FieldReader numbers = dataset.reader("number");
      FieldReader texts = dataset.reader("text");
      numbers.select(all, 0, length);
      texts.select(all, 0, length);
      List<String> records = new ArrayList<>();
      for (int i = 0; i < length; i++) {
        String number = numbers.isAbsent(i)
            ? "-"
            : Long.toString(
                ByteBuffer.wrap(numbers.value(i)).order(ByteOrder.LITTLE_ENDIAN).getLong());
        String text = texts.isAbsent(i) ? "-" : new String(texts.value(i), StandardCharsets.UTF_8);
        records.add(number + " " + text);
      }
      return records;
    }
  }

  private Set<String> files() throws IOException {
    try (Stream<Path> all = Files.walk(directory.resolve("table/shard"))) {
      return all.filter(Files::isRegularFile)
          .map(path -> path.getFileName().toString())
          .collect(Collectors.toSet());
    }
  }

  private void requireSound() {
    List<String> problems = new ArrayList<>();
    DatasetCheck.of(directory.resolve("table").toString())
        .allVersions()
        .run(finding -> problems.add(finding.file() + ": " + finding.problem()));
    assertThat(problems).isEmpty();
  }

  /** Each round: some tasks change some shards, and what they leave is as in a list. */
  @Test
  void whatAnyNumberOfTasksChangeIsAsInAList() {
    List<String> expected = new ArrayList<>(records(table.latest()));
    for (int round = Math.max(3, Budget.of(15)); round > 0; round--) {
      TableSnapshot base = table.latest();
      MergeChange merge = MergeChange.of(base);
      List<Integer> gone = new ArrayList<>();
      for (int s = 0; s < base.shards().size(); s++) {
        ShardSummary shard = base.shards().get(s);
        List<Integer> indices = new ArrayList<>();
        for (int i = 0; i < shard.length(); i++) {
          indices.add(i);
        }
        Collections.shuffle(indices, random);
        for (int task = random.nextInt(4); task > 0; task--) {
          merge.change(sent(change(shard, (int) base.firstIndex(s), indices, expected, gone)));
        }
      }
      ShardSummary added = shard(10_000L * round, 5);
      merge.adding(List.of(added));
      for (int i = 0; i < 5; i++) {
        expected.add((10_000L * round + i) + " text " + (10_000L * round + i));
      }
      gone.sort(Collections.reverseOrder());
      gone.forEach(index -> expected.remove((int) index));
      assertThat(records(merge.commit())).isEqualTo(expected);
    }
    requireSound();
  }

  private ShardChange change(
      ShardSummary shard,
      int firstIndex,
      List<Integer> indices,
      List<String> expected,
      List<Integer> gone) {
    try (ShardChangeWriter writer = writer(shard)) {
      for (int k = random.nextInt(60); k > 0 && !indices.isEmpty(); k--) {
        int local = indices.remove(indices.size() - 1);
        if (random.nextInt(4) == 0) {
          writer.delete(local);
          gone.add(firstIndex + local);
          continue;
        }
        long number = random.nextInt(1000);
        String text = "changed " + number;
        writer.update(local, "number", number);
        writer.update(local, "text", text);
        expected.set(firstIndex + local, number + " " + text);
      }
      return writer.finish();
    }
  }

  @Test
  void aRecordInTwoPartsIsNamed() throws IOException {
    // A patch that deletes records before makes slots and indices differ.
    RowChange before = RowChange.of(table.latest());
    before.delete(1001);
    before.delete(1003);
    TableSnapshot base = before.commit();
    Set<String> files = files();
    ShardSummary shard = base.shards().get(1);
    MergeChange merge = MergeChange.of(base);
    for (int task = 0; task < 2; task++) {
      try (ShardChangeWriter writer = writer(shard)) {
        writer.update(100 + task, "number", 1);
        writer.update(500, "text", "x");
        merge.change(writer.finish());
      }
    }
    assertThatThrownBy(merge::commit)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("record 1500");
    assertThat(files()).hasSize(files.size() + 4);
    assertThat(table.latest().version()).isEqualTo(base.version());
  }

  /** A join of Spark may give a record to two tasks, which both delete it. */
  @Test
  void aRecordThatTwoPartsDeleteIsDeletedOnce() {
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base);
    for (int task = 0; task < 3; task++) {
      try (ShardChangeWriter writer = writer(base.shards().get(1))) {
        writer.delete(500);
        writer.delete(task);
        writer.update(10 + task, "number", 7);
        merge.change(writer.finish());
      }
    }
    TableSnapshot after = merge.commit();
    assertThat(after.length()).isEqualTo(base.length() - 4);
    List<String> expected = new ArrayList<>(records(base));
    for (int task = 0; task < 3; task++) {
      int index = RECORDS + 10 + task;
      expected.set(
          index, "7" + expected.get(index).substring(expected.get(index).indexOf(' ')));
    }
    for (int index : new int[] {500, 2, 1, 0}) {
      expected.remove(RECORDS + index);
    }
    assertThat(records(after)).isEqualTo(expected);
  }

  @Test
  void whatIsJoinedLeavesNoOtherFiles() throws IOException {
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base);
    for (int task = 0; task < 3; task++) {
      try (ShardChangeWriter writer = writer(base.shards().get(0))) {
        writer.update(task, "number", 7);
        merge.change(writer.finish());
      }
      // All records of this shard are deleted.
      try (ShardChangeWriter writer = writer(base.shards().get(2))) {
        for (int i = task; i < RECORDS; i += 3) {
          writer.delete(i);
        }
        merge.change(writer.finish());
      }
    }
    Set<String> before = files();
    TableSnapshot after = merge.commit();
    assertThat(after.length()).isEqualTo(2L * RECORDS);
    // Three patches of the first shard became one, and three of the last became none.
    assertThat(files()).hasSize(before.size() - 5);
    assertThat(after.properties())
        .containsEntry(MergeChange.JOINED_SHARDS, "2")
        .doesNotContainKeys(MergeChange.REWRITTEN_FIELDS, MergeChange.REWRITTEN_SHARDS);
    requireSound();
  }

  @Test
  void aWriterThatIsGivenUpLeavesNothing() throws IOException {
    Set<String> before = files();
    try (ShardChangeWriter writer = writer(table.latest().shards().get(0))) {
      writer.update(3, "text", "x");
    }
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void changesThatBecomeTooLargeTogetherWriteTheShardAgain() throws IOException {
    ShardSummary large = shard(0, 220_000);
    table.commit(
        TableChange.of(TableChange.Kind.APPEND, SCHEMA).shards(List.of(large)).build());
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base);
    for (int task = 0; task < 2; task++) {
      try (ShardChangeWriter writer = writer(large)) {
        for (int i = task; i < 220_000; i += 2) {
          writer.update(i, "number", -i);
        }
        ShardChange change = writer.finish();
        assertThat(change.rewritten()).isNull();
        merge.change(change);
      }
    }
    TableSnapshot after = merge.commit();
    ShardSummary last = after.shards().get(SHARDS);
    assertThat(last.patch()).isNull();
    assertThat(after.properties())
        .containsEntry(MergeChange.REWRITTEN_FIELDS, "number")
        .containsEntry(MergeChange.JOINED_SHARDS, "1")
        .doesNotContainKey(MergeChange.REWRITTEN_SHARDS);
    List<String> records = records(after);
    assertThat(records.get(SHARDS * RECORDS + 77_777)).isEqualTo("-77777 text 77777");
    requireSound();
  }

  @Test
  void aChangeOfARecordThatAnotherCommitChangedIsAConflict() throws IOException {
    TableSnapshot base = table.latest();
    MergeChange merge = MergeChange.of(base);
    try (ShardChangeWriter writer = writer(base.shards().get(0))) {
      writer.delete(5);
      merge.change(writer.finish());
    }
    RowChange other = RowChange.of(base);
    other.delete(5);
    other.commit();
    Set<String> files = files();
    assertThatThrownBy(merge::commit).isInstanceOf(CommitConflictException.class);
    // Another commit may have the same change.
    assertThat(files()).isEqualTo(files);
    assertThatThrownBy(merge::commit).isInstanceOf(IllegalStateException.class);
  }

  /** A driver dies after its commit, and another commits what the tasks sent. */
  @Test
  void aChangeThatIsCommittedAgainLosesNothing() {
    TableChange.Transaction once = new TableChange.Transaction("job", 1);
    TableSnapshot base = table.latest();
    List<ShardChange> changes = new ArrayList<>();
    for (int task = 0; task < 3; task++) {
      // Two of them are of one shard.
      try (ShardChangeWriter writer = writer(base.shards().get(task / 2))) {
        writer.update(task, "text", "task " + task);
        changes.add(writer.finish());
      }
    }
    TableSnapshot after = commit(base, changes, Optional.of(once));
    List<String> expected = records(after);
    assertThat(commit(base, changes, Optional.of(once)).version()).isEqualTo(after.version());
    assertThat(commit(after, changes, Optional.of(once)).version()).isEqualTo(after.version());
    assertThatThrownBy(() -> commit(base, changes, Optional.empty()))
        .isInstanceOf(ZRecordException.class);
    assertThatThrownBy(() -> commit(base, changes.subList(2, 3), Optional.empty()))
        .isInstanceOf(CommitConflictException.class);
    assertThatThrownBy(() -> commit(after, changes, Optional.empty()))
        .isInstanceOf(IllegalArgumentException.class);
    assertThat(records(table.latest())).isEqualTo(expected);
    requireSound();
  }

  private static TableSnapshot commit(
      TableSnapshot base,
      List<ShardChange> changes,
      Optional<TableChange.Transaction> transaction) {
    MergeChange merge = MergeChange.of(base);
    changes.forEach(merge::change);
    transaction.ifPresent(merge::transaction);
    return merge.commit();
  }

  /** As for any shard that cannot be read. */
  @Test
  void aShardWhoseRecordsAreAllDeletedIsNotOpened() throws IOException {
    RowChange first = RowChange.of(table.latest());
    first.delete(0);
    TableSnapshot base = first.commit();
    ShardSummary shard = base.shards().get(0);
    Path patch = directory
        .resolve("table/" + shard.directory())
        .resolve(Objects.requireNonNull(shard.patch()).fileName());
    byte[] bytes = Files.readAllBytes(patch);
    bytes[100] ^= 1;
    Files.write(patch, bytes);
    RowChange change = RowChange.of(base);
    LongStream.range(0, shard.length()).forEach(change::delete);
    Set<String> before = files();
    assertThat(change.commit().length()).isEqualTo((long) (SHARDS - 1) * RECORDS);
    assertThat(files()).isEqualTo(before);
  }

  @Test
  void aFinishedWriterTakesNothing() {
    ShardChangeWriter writer = writer(table.latest().shards().get(0));
    writer.update(3, "text", "x");
    writer.finish();
    assertThatThrownBy(() -> writer.update(4, "text", "x"))
        .isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> writer.delete(4)).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(writer::finish).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aShardOfAnotherVersionIsRefused() {
    TableSnapshot old = table.latest();
    RowChange other = RowChange.of(old);
    other.delete(7);
    TableSnapshot base = other.commit();
    MergeChange merge = MergeChange.of(base);
    try (ShardChangeWriter writer = writer(old.shards().get(0))) {
      writer.delete(5);
      merge.change(writer.finish());
    }
    assertThatThrownBy(merge::commit)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("does not have it");
  }

  @Test
  void aPartitionFieldGetsNoValues() throws IOException {
    storage = LocalStorage.at(directory.resolve("parts"));
    RecordTable partitioned = RecordTable.at(storage);
    ShardSummary shard = shard(7, 1).withPartition(List.of("7"));
    TableSnapshot base = partitioned.commit(TableChange.of(TableChange.Kind.CREATE, SCHEMA)
        .shards(List.of(shard))
        .partitionedBy(List.of(SCHEMA.fields().get(0).id()))
        .build());
    try (ShardChangeWriter writer =
        ShardChangeWriter.open(storage, ChangeBase.of(base), shard, BOTH)) {
      assertThatThrownBy(() -> writer.update(0, "number", 8))
          .isInstanceOf(SchemaMismatchException.class);
    }
    // A task that does not know the partition fields.
    MergeChange merge = MergeChange.of(base);
    try (ShardChangeWriter writer = writer(shard)) {
      writer.update(0, "number", 8);
      merge.change(writer.finish());
    }
    assertThatThrownBy(merge::commit)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'number', by which the table is partitioned");
  }

  @Test
  void fieldsThatWereNotNamedGetNoValues() {
    try (ShardChangeWriter writer = ShardChangeWriter.open(
        storage, ChangeBase.of(table.latest()), table.latest().shards().get(0), Set.of("text"))) {
      assertThatThrownBy(() -> writer.update(3, "number", 1))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("name every field");
      assertThatThrownBy(() -> writer.update(RECORDS, "text", "x"))
          .isInstanceOf(IndexOutOfBoundsException.class);
    }
  }
}
