package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.StorageException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.table.Manifest;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Whoever looks for the newest version finds it, whatever the hint says. */
class NewestVersionTest {
  private static final Instant START = Instant.parse("2026-01-02T00:00:00Z");

  private static final String OTHER = "00000000-0000-4000-8000-000000000000";

  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));

  protected final MemoryStorage storage = Simulation.storage();
  private final List<byte[]> hints = new ArrayList<>();
  private Instant now = START;

  /** What became of the hint. */
  private enum Hint {
    NONE,
    EXACT,
    TWO_BEHIND,
    FAR_BEHIND,
    EXPIRED,
    DAMAGED,
    CUT,
    OF_A_LATER_FORMAT,
    BEHIND_OF_ANOTHER_TABLE
  }

  /** Counts what is asked of the storage. */
  private static final class Counting extends ForwardingStorage {
    private int reads;
    private int lists;

    Counting(Storage storage) {
      super(storage);
    }

    @Override
    public byte[] read(String name, int maxBytes) {
      reads++;
      return super.read(name, maxBytes);
    }

    @Override
    public List<StoredFile> list(String directory) {
      lists++;
      return super.list(directory);
    }
  }

  /** Commits 40 versions two hours apart, and expires the first. */
  @BeforeEach
  void commit() {
    RecordTable table = RecordTable.at(storage, clock());
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 1);
    for (int version = 0; version < 40; version++) {
      table.commit(Shards.append(OptionalLong.empty(), shard));
      hints.add(hint());
      now = now.plus(Duration.ofHours(2));
    }
    table.expire(EXPIRE.withKeepVersions(36));
    hints.add(hint());
  }

  protected final TableChange append() {
    return Shards.append(OptionalLong.of(39), Shards.write(storage, Shards.SCHEMA, 2));
  }

  protected final InstantSource clock() {
    return () -> now;
  }

  private byte[] hint() {
    return storage.read(ManifestNames.HINT, SealedJson.MAX_BYTES);
  }

  private void hint(byte[] content) {
    storage.overwrite(ManifestNames.HINT, content);
  }

  private static byte[] edited(byte[] hint, String old, String replacement) {
    String text = new String(hint, StandardCharsets.UTF_8);
    assertThat(text).contains(old);
    byte[] body = text.substring(0, text.lastIndexOf(",\"crc32c\""))
        .replace(old, replacement)
        .getBytes(StandardCharsets.UTF_8);
    CRC32C crc = new CRC32C();
    crc.update(body);
    return String.format(
            "%s,\"crc32c\":\"%08x\"}\n", new String(body, StandardCharsets.UTF_8), crc.getValue())
        .getBytes(StandardCharsets.UTF_8);
  }

  private void set(Hint kind) {
    byte[] exact = hints.get(40);
    Manifest newest = new ManifestLog(storage).read(40);
    switch (kind) {
      case NONE -> storage.delete(ManifestNames.HINT);
      case EXACT -> hint(exact);
      case TWO_BEHIND -> hint(hints.get(38));
      case FAR_BEHIND -> hint(hints.get(5));
      case EXPIRED -> hint(hints.get(2));
      case DAMAGED -> {
        byte[] damaged = exact.clone();
        damaged[20] ^= 1;
        hint(damaged);
      }
      case CUT -> hint(new byte[0]);
      case OF_A_LATER_FORMAT -> hint(edited(exact, "\"format\":2", "\"format\":3"));
      case BEHIND_OF_ANOTHER_TABLE ->
        hint(edited(hints.get(38), newest.tableId().toString(), OTHER));
    }
  }

  @ParameterizedTest
  @EnumSource
  void theNewestVersionIsFound(Hint kind) {
    set(kind);
    assertThat(new ManifestLog(storage).last())
        .hasValueSatisfying(newest -> assertThat(newest.version()).isEqualTo(40));
    RecordTable table = RecordTable.at(storage, clock());
    table.commit(append());
    assertThat(table.latest().version()).isEqualTo(41);
    assertThat(new String(hint(), StandardCharsets.UTF_8)).contains("\"version\":41");
  }

  @ParameterizedTest
  @ValueSource(strings = {"table", "commit"})
  void aHintOfTheNewestVersionOfAnotherTableOrCommitIsDamage(String member) {
    Manifest newest = new ManifestLog(storage).read(40);
    UUID id = member.equals("table") ? newest.tableId() : newest.commitId();
    hint(edited(hints.get(40), id.toString(), OTHER));
    assertThatThrownBy(() -> new ManifestLog(storage).last())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(ManifestNames.nameOf(40))
        .hasMessageContaining("by commit")
        .hasMessageContaining("delete " + storage.pathOf(ManifestNames.HINT));
    assertThatThrownBy(() -> RecordTable.at(storage, clock()).commit(append()))
        .isInstanceOf(CorruptDataException.class);
    // The control: the manifest is right.
    storage.delete(ManifestNames.HINT);
    assertThat(new ManifestLog(storage).last().orElseThrow().version()).isEqualTo(40);
  }

  @Test
  void anExactHintTakesFourReadsAndNoList() {
    Counting counting = new Counting(storage);
    new ManifestLog(counting).last();
    assertThat(counting.reads).isEqualTo(4);
    assertThat(counting.lists).isZero();
  }

  @Test
  void aHintThatIsFarBehindTakesOneList() {
    set(Hint.FAR_BEHIND);
    Counting counting = new Counting(storage);
    new ManifestLog(counting).last();
    assertThat(counting.reads).isLessThan(40);
    assertThat(counting.lists).isEqualTo(1);
  }

  /**
   * A manifest was lost, and a commit takes its number, because the hint leads to the one before.
   */
  @Test
  void aCommitIntoAGapIsNotAcknowledged() {
    storage.delete(ManifestNames.nameOf(38));
    hint(hints.get(37));
    TableChange change =
        Shards.append(OptionalLong.of(37), Shards.write(storage, Shards.SCHEMA, 2));
    RecordTable table = RecordTable.at(storage, clock());
    assertThatThrownBy(() -> table.commit(change))
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("the version after it was made for another one");
    assertThat(hint()).as("no reader is led there").isEqualTo(hints.get(37));
    assertThatThrownBy(() -> new ManifestLog(storage).last())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(ManifestNames.nameOf(39) + " does not follow version 38")
        .hasMessageContaining("restore the manifests");
    assertThatThrownBy(() -> table.commit(append())).isInstanceOf(CorruptDataException.class);
  }

  /** Without the hint, nobody can tell that newer versions were there. */
  @Test
  void theNewestVersionThatWasDeletedIsMissed() {
    storage.delete(ManifestNames.nameOf(40));
    assertThatThrownBy(() -> new ManifestLog(storage).last())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("version 40 was published, but version 39 is the newest")
        .hasMessageContaining("delete " + storage.pathOf(ManifestNames.HINT));
    assertThatThrownBy(() -> RecordTable.at(storage, clock()).commit(append()))
        .isInstanceOf(CorruptDataException.class);
    storage.delete(ManifestNames.HINT);
    assertThat(new ManifestLog(storage).last().orElseThrow().version()).isEqualTo(39);
  }

  @Test
  void allVersionsThatWereDeletedAreMissed() {
    storage.delete(ManifestNames.DIRECTORY);
    hint(hints.get(40));
    assertThatThrownBy(() -> new ManifestLog(storage).last())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("there is no manifest");
  }

  /** A publisher that slept left a manifest under a number that was expired. */
  @Test
  void aManifestLeftBelowTheFloorIsNotTakenForTheNewest() {
    byte[] expired = storage.read(ManifestNames.nameOf(5), SealedJson.MAX_BYTES);
    expire();
    storage.overwrite(ManifestNames.nameOf(5), expired);
    hint(hints.get(5));
    assertThat(new ManifestLog(storage).last().orElseThrow().version()).isEqualTo(41);
  }

  /** The version before is there, but it is not the version that was before. */
  @Test
  void twoManifestsLeftBelowTheFloorAreNotEither() {
    byte[] garbage = edited(
        storage.read(ManifestNames.nameOf(5), SealedJson.MAX_BYTES),
        new ManifestLog(storage).read(5).commitId().toString(),
        "00000000-0000-4000-8000-000000000000");
    byte[] leftover = storage.read(ManifestNames.nameOf(6), SealedJson.MAX_BYTES);
    expire();
    storage.overwrite(ManifestNames.nameOf(5), garbage);
    storage.overwrite(ManifestNames.nameOf(6), leftover);
    hint(hints.get(6));
    ManifestLog log = new ManifestLog(storage);
    assertThat(log.last().orElseThrow().version()).isEqualTo(41);
    // What a search that asks only whether the version before is there would take for the newest.
    assertThat(storage.exists(ManifestNames.nameOf(5))).isTrue();
    assertThat(storage.exists(ManifestNames.nameOf(7))).isFalse();
  }

  private void expire() {
    RecordTable.at(storage, clock()).expire(EXPIRE.withKeepVersions(1));
    assertThat(new ManifestLog(storage).listed()).doesNotContain(5L, 6L, 7L);
  }

  @Test
  void aHintThatCannotBeWrittenIsNoFailure() {
    Storage refusing = new ForwardingStorage(storage) {
      @Override
      public void replace(String name, byte[] content) {
        throw new StorageException(pathOf(name), "refused");
      }
    };
    TableSnapshot committed = RecordTable.at(refusing, clock()).commit(append());
    assertThat(committed.version()).isEqualTo(41);
    assertThat(hint()).isEqualTo(hints.get(40));
  }
}
