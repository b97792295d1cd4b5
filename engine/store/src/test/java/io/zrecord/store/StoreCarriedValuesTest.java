package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordDataset;
import io.zrecord.errors.ZRecordException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.repair.DamagedValues;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairPlan;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.DirectoryInMemory;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The journal carries the values of small commits. After a loss of power that took them from their
 * chunk, everything that reads the store finds them. Without what the journal carries they are
 * lost.
 */
final class StoreCarriedValuesTest {
  private static final long SEED = Budget.seed();
  private static final int LENGTH = 60;
  private static final StoreOptions OPTIONS = StoreOptions.defaults().withWriters(2);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  private final StoreModel model = new StoreModel(SEED, LENGTH);
  private Path path;

  /** What a loss of power leaves of the bytes that were not forced. */
  enum Loss {
    SHORTER_FILE,
    ZEROS
  }

  /** Makes a copy of a store whose writer was killed. */
  @BeforeEach
  void write() {
    Path alive = directory.resolve("alive");
    Random random = new Random(SEED);
    try (RecordStore store = RecordStore.create(alive, StoreModel.SCHEMA, OPTIONS)) {
      while (model.operationCount() < 300) {
        for (int i = 1 + random.nextInt(5); i > 0; i--) {
          model.next(store);
        }
        store.commit();
      }
      path = Damage.copy(alive, directory.resolve("store"));
    }
  }

  private Map<String, Long> losePower(Loss loss) throws IOException {
    JournalProbe journal = new JournalProbe(path);
    Map<String, Long> forced = journal.forcedBytes();
    assertThat(forced).isNotEmpty();
    journal.losePower(loss == Loss.ZEROS);
    return forced;
  }

  private List<Finding> damage() {
    List<Finding> damage = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(damage::add);
    damage.removeIf(finding -> !finding.kind().isDamage());
    return damage;
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void openingFindsThemAndPutsThemIntoTheirChunk(Loss loss) throws IOException {
    losePower(loss);
    for (int opening = 0; opening < 2; opening++) {
      assertThat(Files.size(path.resolve("journal")) > JournalHeader.BYTES).isEqualTo(opening == 0);
      try (RecordStore store = RecordStore.open(path, OPTIONS)) {
        assertThat(model.differenceFrom(store)).isNull();
      }
    }
    assertThat(damage()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void aCheckFindsThemAndChangesNothing(Loss loss) throws IOException {
    losePower(loss);
    Map<String, byte[]> before = content();
    assertThat(damage()).isEmpty();
    assertThat(content())
        .allSatisfy((name, bytes) -> assertThat(bytes).as(name).isEqualTo(before.get(name)));
  }

  private Map<String, byte[]> content() throws IOException {
    Map<String, byte[]> content = new HashMap<>();
    try (var files = Files.walk(path)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        content.put(path.relativize(file).toString(), Files.readAllBytes(file));
      }
    }
    return content;
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void aSnapshotHasThemInAChunkOfItsOwn(Loss loss) throws IOException {
    Map<String, Long> forced = losePower(loss);
    byte[] chunk = Files.readAllBytes(path.resolve("chunk/0.zr"));
    Path table = directory.resolve("table");
    requireModel(StoreSnapshot.create(path, table));
    assertThat(path.resolve("chunk/0.zr")).hasBinaryContent(chunk);
    assertThat(forced).containsKey("chunk/0.zr");
    assertThat(DatasetCheck.of(table.toString()).run(finding -> {}).isSound()).isTrue();
  }

  private void requireModel(TableSnapshot snapshot) {
    try (RecordDataset dataset =
        RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults())) {
      assertThat(model.differenceFrom(dataset)).isNull();
    }
  }

  @Test
  void aSnapshotOfAKilledWriterSharesTheChunk() throws IOException {
    Path table = directory.resolve("table");
    requireModel(StoreSnapshot.create(path, table));
    assertThat(Files.getAttribute(path.resolve("chunk/0.zr"), "unix:nlink")).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void aTableMadeOfTheStoreHasThem(Loss loss) throws IOException {
    losePower(loss);
    requireModel(StoreSnapshot.convert(path));
    assertThat(damage()).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void aRepairDoesNotTakeThemForLost(Loss loss) throws IOException {
    losePower(loss);
    List<RepairPlan> plans = new ArrayList<>();
    DatasetRepair.of(path.toString())
        .damagedValues(DamagedValues.DELETE_RECORDS)
        .run(finding -> {}, plan -> {
          plans.add(plan);
          return false;
        });
    assertThat(plans).allSatisfy(plan -> assertThat(plan.actions()).isEmpty());
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void aRepairThatCutsTheJournalKeepsWhatLaterRecordsCarry(Loss loss) throws IOException {
    List<JournalRecord> records = new JournalProbe(path).records();
    losePower(loss);
    long at = 64;
    for (int i = 0; i < 40; i++) {
      at += records.get(i).bytes();
    }
    Damage.flip(path.resolve("journal"), at + 60);
    assertThat(damage()).isNotEmpty();
    DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true);
    assertThat(damage()).isEmpty();
    try (RecordStore store = RecordStore.open(path, OPTIONS)) {
      assertThat(store.length()).isEqualTo(records.get(39).length());
    }
  }

  @ParameterizedTest
  @EnumSource(Loss.class)
  void withoutWhatTheJournalCarriesTheyAreLost(Loss loss) throws IOException {
    losePower(loss);
    new JournalProbe(path).dropCarried();
    assertThat(damage()).isNotEmpty();
    assertThatThrownBy(() -> {
          try (RecordStore store = RecordStore.open(path, OPTIONS)) {
            model.differenceFrom(store);
          }
        })
        .isInstanceOf(ZRecordException.class);
    assertThatThrownBy(() -> requireModel(StoreSnapshot.create(path, directory.resolve("table"))))
        .isInstanceOf(ZRecordException.class);
  }

  @Test
  void aSmallCommitForcesTheJournalOnly() {
    Counting files = new Counting(new LocalMutableFiles(directory.resolve("counted")));
    try (RecordStore store = RecordStore.create(files, StoreModel.SCHEMA, OPTIONS, () -> {})) {
      append(store, 100);
      files.forces.clear();
      append(store, 100);
      append(store, 60_000);
      assertThat(files.forces).isEqualTo(Map.of("journal", 2));
      files.forces.clear();
      append(store, 70_000);
      assertThat(files.forces).isEqualTo(Map.of("chunk/0.zr", 1, "journal", 1));
      files.forces.clear();
      append(store, 100);
      assertThat(files.forces).isEqualTo(Map.of("journal", 1));
      files.forces.clear();
      store.checkpoint();
      assertThat(files.forces).containsKey("chunk/0.zr");
    }
  }

  private static void append(RecordStore store, int bytes) {
    store.append(store.newValues().set("raw", new byte[bytes]));
    store.commit();
  }

  private static final class Counting extends ForwardingFiles {
    private final Map<String, Integer> forces = new HashMap<>();

    Counting(MutableFiles files) {
      super(files);
    }

    @Override
    public MutableFile open(String name, boolean writable) {
      return counting(name, files.open(name, writable));
    }

    @Override
    public MutableFile create(String name) {
      return counting(name, files.create(name));
    }

    private MutableFile counting(String name, MutableFile opened) {
      return new ForwardingFile(opened) {
        @Override
        public void force() {
          forces.merge(name, 1, Integer::sum);
          super.force();
        }
      };
    }
  }

  @Test
  void theJournalOfAFewBytesIsDamaged() throws IOException {
    for (int bytes : new int[] {0, 1, 63}) {
      Files.write(
          path.resolve("journal"),
          Arrays.copyOf(Files.readAllBytes(path.resolve("journal")), bytes));
      assertThatThrownBy(() -> RecordStore.open(path, OPTIONS))
          .isInstanceOf(ZRecordException.class)
          .hasMessageContaining("its header is damaged");
      assertThat(damage()).extracting(Finding::kind).contains(Finding.Kind.JOURNAL);
    }
  }

  @Test
  void aSnapshotNeedsNoFileLive() throws IOException {
    Files.delete(path.resolve("live"));
    requireModel(StoreSnapshot.create(path, directory.resolve("table")));
  }
}
