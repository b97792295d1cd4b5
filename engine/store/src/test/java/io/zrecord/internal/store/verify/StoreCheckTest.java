package io.zrecord.internal.store.verify;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.CheckSummary;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.testing.Budget;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Damages of stores are found and named, closed ones as well as those of a killed writer; sound
 * ones pass.
 */
final class StoreCheckTest {
  @TempDir
  Path directory;

  private final long seed = Budget.seed();
  private final List<Finding> findings = new ArrayList<>();

  private CheckSummary check(Path path) {
    findings.clear();
    return DatasetCheck.of(path.toString()).run(findings::add);
  }

  private Finding onlyFinding(Path path) {
    check(path);
    assertThat(findings).hasSize(1);
    return findings.get(0);
  }

  private Path closed() {
    return SampleStore.closed(directory.resolve("store"));
  }

  private Path killed() {
    return SampleStore.killed(directory);
  }

  @Test
  void allVersionsOfAStoreAreTheStore() {
    Path path = closed();
    assertThat(DatasetCheck.of(path.toString()).allVersions().run(findings::add).isSound())
        .isTrue();
  }

  @Test
  void aClosedStoreIsSound() {
    CheckSummary summary = check(closed());
    assertThat(findings).isEmpty();
    assertThat(summary.recordCount()).isEqualTo(SampleStore.COUNT);
    assertThat(summary.valueCount()).isEqualTo(3L * SampleStore.COUNT);
  }

  @Test
  void aStoreWithoutRecordsIsSound() {
    Path path = directory.resolve("empty");
    RecordStore.create(path, SampleStore.SCHEMA, StoreOptions.defaults()).close();
    assertThat(check(path).isSound()).isTrue();
    assertThat(findings).isEmpty();
  }

  @Test
  void theStoreOfAKilledWriterIsSoundAndStaysAsItIs() throws IOException {
    Path path = killed();
    byte[] journal = Files.readAllBytes(path.resolve("journal"));
    assertThat(journal).hasSizeGreaterThan(64);
    CheckSummary summary = check(path);
    assertThat(findings).isEmpty();
    assertThat(summary.recordCount()).isEqualTo(SampleStore.KILLED_COUNT);
    assertThat(path.resolve("journal")).hasBinaryContent(journal);
  }

  @Test
  void tablesThatLackWhatTheJournalSaysAreSound() throws IOException {
    Path path = SampleStore.killedBeforeTables(directory);
    CheckSummary summary = check(path);
    assertThat(findings).isEmpty();
    assertThat(summary.recordCount()).isEqualTo(SampleStore.KILLED_COUNT);
  }

  @Test
  void aCommitThatWasNotFinishedIsANote() throws IOException {
    Path path = SampleStore.killedBeforeTables(directory);
    Path journal = path.resolve("journal");
    Damage.cut(journal, Files.size(journal) - 8);
    assertThat(onlyFinding(path)).returns(Kind.NOTE, Finding::kind);
  }

  @Test
  void aDamagedRecordInTheMiddleOfTheJournalIsNamed() throws IOException {
    Path path = killed();
    Damage.flip(path.resolve("journal"), 64 + 40);
    check(path);
    assertThat(findings.get(0))
        .returns(Kind.JOURNAL, Finding::kind)
        .matches(f -> f.problem().contains("at byte 64"));
  }

  /**
   * The check reads the journal by a program of its own, which must come to the same as the
   * engine's.
   */
  @Test
  void aJournalIsNamedIfAndOnlyIfTheStoreCannotBeOpened() throws IOException {
    Path original = SampleStore.killedBeforeTables(directory);
    int length = (int) Files.size(original.resolve("journal"));
    Random random = Budget.random();
    int rounds = Math.max(100, Budget.of(300));
    int damaged = 0;
    for (int round = 0; round < rounds; round++) {
      Path path = Damage.copy(original, directory.resolve("copy" + round));
      int at = random.nextInt(length);
      if (random.nextBoolean()) {
        Damage.flip(path.resolve("journal"), at);
      } else {
        Damage.cut(path.resolve("journal"), at);
      }
      check(path);
      boolean isNamed = findings.stream().anyMatch(f -> f.kind() == Kind.JOURNAL);
      boolean isRefused = false;
      try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
        assertThat(store.length()).isPositive();
      } catch (CorruptDataException e) {
        isRefused = true;
      }
      assertThat(isNamed).as("byte %s, seed %s", at, seed).isEqualTo(isRefused);
      damaged += isRefused ? 1 : 0;
    }
    // Of these damages, 0.43 are refused: of 100, fewer than 7 with a probability of 1e-14.
    assertThat(damaged).isBetween(rounds / 15, rounds * 14 / 15);
  }

  @Test
  void aDamagedHeaderOfTheJournalIsNamed() {
    Path path = killed();
    Damage.flip(path.resolve("journal"), 20);
    CheckSummary summary = check(path);
    assertThat(findings).hasSize(1);
    assertThat(findings.get(0).kind()).isEqualTo(Kind.JOURNAL);
    assertThat(summary.recordCount()).isEqualTo(SampleStore.KILLED_COUNT);
    Damage.delete(path.resolve("journal"));
    check(path);
    assertThat(findings).anyMatch(f -> f.problem().contains("no such file"));
  }

  @Test
  void aDamagedMetaFileIsNamed() {
    Path path = closed();
    Damage.flip(path.resolve("meta.json"), 50);
    assertThat(onlyFinding(path)).returns(Kind.META, Finding::kind);
    Damage.delete(path.resolve("meta.json"));
    assertThat(onlyFinding(path)).returns(Kind.META, Finding::kind);
  }

  @Test
  void badValuesAndEntriesAreNamed() {
    Path path = closed();
    Damage.flip(path.resolve("text.offset"), 16 * 5 + 6);
    Damage.flip(path.resolve("zipped.crc32c"), 4 * 6);
    Damage.flip(path.resolve("label.offset"), 16 * 7 + 9);
    CheckSummary summary = check(path);
    assertThat(findings.stream().map(f -> f.field() + f.firstIndex()).toList())
        .containsExactly("text5", "zipped6", "label7");
    assertThat(summary.badValueCount()).isEqualTo(3);
  }

  @Test
  void cutAndMissingFilesAreNamed() {
    Path path = closed();
    Damage.cut(path.resolve("text.offset"), 16 * 10);
    Damage.cut(path.resolve("label.crc32c"), 4 * 20);
    check(path);
    assertThat(findings.stream().filter(f -> f.kind() == Kind.ENTRY_FILE)).hasSize(2);
    Path chunks = SampleStore.closed(directory.resolve("chunks"));
    Damage.delete(chunks.resolve("chunk/0.zr"));
    CheckSummary summary = check(chunks);
    assertThat(findings.get(0)).returns(Kind.CHUNK, Finding::kind);
    assertThat(summary.badValueCount()).isPositive();
  }

  @Test
  void aDamagedOrMissingLiveFileIsNamed() {
    Path path = closed();
    Damage.flip(path.resolve("live"), 20);
    assertThat(onlyFinding(path)).returns(Kind.LIVE, Finding::kind);
    Damage.flip(path.resolve("live"), 20);
    Damage.flip(path.resolve("live"), 64);
    assertThat(onlyFinding(path).problem()).contains("records");
    Damage.delete(path.resolve("live"));
    assertThat(onlyFinding(path)).returns(Kind.LIVE, Finding::kind);
  }

  @Test
  void aChunkThatNoCommitNamesIsANote() throws IOException {
    Path path = closed();
    Files.write(path.resolve("chunk/77.zr"), new byte[64]);
    assertThat(onlyFinding(path)).returns(Kind.ORPHAN, Finding::kind);
  }
}
