package io.zrecord.table;

import static io.zrecord.table.Shards.SCHEMA;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.repair.RepairReport;
import io.zrecord.shard.ShardSummary;
import io.zrecord.testing.MemoryStorage;
import io.zrecord.verify.DatasetCheck;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Consumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A manifest that was replaced by the sound manifest of the same number of another table, or of a
 * copy of the table that went on by itself, is damage for everybody who uses it.
 */
final class ReplacedManifestTest {
  private static final int NEWEST = 5;

  /** The version after which the copy goes on by itself. */
  private static final int SHARED = 2;

  /** Where the manifest comes from. */
  private enum Origin {
    ANOTHER_TABLE,
    DIVERGED_COPY
  }

  /** What became of the hint, in relation to the newest version. */
  private enum Hint {
    EXACT,
    BEHIND,
    MISSING
  }

  /** Versions whose manifests were replaced. */
  private enum Replaced {
    NEWEST(5),
    BEFORE_NEWEST(4),
    OLDER(3),
    /** All that the copy made by itself: but for the hint, that may be a sound table. */
    ALL_OF_THE_COPY(3, 4, 5);

    private final List<Long> versions;

    Replaced(long... versions) {
      this.versions = LongStream.of(versions).boxed().toList();
    }
  }

  private record Case(Origin origin, Hint hint, Replaced replaced) {
    /** Tells whether something that a reader looks at contradicts what replaced the manifests. */
    boolean isFound() {
      return replaced != Replaced.ALL_OF_THE_COPY
          || hint == Hint.EXACT
          || (hint == Hint.BEHIND && origin == Origin.DIVERGED_COPY);
    }

    /** Tells whether the newest version, or the one before it, was replaced. */
    boolean isNearTheEnd() {
      return replaced != Replaced.OLDER;
    }

    /** Tells whether what is left can be told from what replaced the rest. */
    boolean isRepairable() {
      return isFound() && !(replaced == Replaced.ALL_OF_THE_COPY && origin == Origin.DIVERGED_COPY);
    }
  }

  static List<Case> cases() {
    List<Case> cases = new ArrayList<>();
    for (Origin origin : Origin.values()) {
      for (Hint hint : Hint.values()) {
        for (Replaced replaced : Replaced.values()) {
          cases.add(new Case(origin, hint, replaced));
        }
      }
    }
    return cases;
  }

  private final MemoryStorage storage = Simulation.storage();
  private final List<ShardSummary> shards = new ArrayList<>();
  private final List<byte[]> hints = new ArrayList<>();
  private final RecordTable table = RecordTable.at(storage);

  private void appendUpTo(RecordTable to, int version, long value) {
    for (long next = to.exists() ? to.latest().version() + 1 : 0; next <= version; next++) {
      ShardSummary shard = Shards.write(to.storage(), SCHEMA, value + next);
      to.commit(Shards.append(Shards.newest(to), shard));
      if (to == table) {
        shards.add(shard);
        hints.add(storage.read(ManifestNames.HINT, SealedJson.MAX_BYTES));
      }
    }
  }

  /** Makes the table and replaces manifests. Files of both are all there. */
  private void make(Case made) {
    appendUpTo(table, SHARED, 0);
    MemoryStorage other = Simulation.storage();
    if (made.origin == Origin.DIVERGED_COPY) {
      copy(storage, other);
    }
    appendUpTo(table, NEWEST, 0);
    appendUpTo(RecordTable.at(other), NEWEST, 1000);
    other.names().stream()
        .filter(name -> !name.startsWith(ManifestNames.DIRECTORY))
        .filter(name -> !storage.names().contains(name))
        .forEach(name -> copy(other, name, storage));
    made.replaced.versions.forEach(version -> copy(other, ManifestNames.nameOf(version), storage));
    switch (made.hint) {
      case EXACT -> {}
      case BEHIND -> storage.overwrite(ManifestNames.HINT, hints.get(NEWEST - 1));
      case MISSING -> storage.delete(ManifestNames.HINT);
    }
  }

  private static void copy(MemoryStorage from, MemoryStorage to) {
    from.names().forEach(name -> copy(from, name, to));
  }

  private static void copy(MemoryStorage from, String name, MemoryStorage to) {
    to.overwrite(name, from.read(name, Integer.MAX_VALUE));
  }

  /** What uses the newest version, or everything from the floor on. */
  private enum Use {
    READ(RecordTable::latest),
    APPEND(table -> append(table, OptionalLong.of(NEWEST))),
    APPEND_ON_A_BASE(table -> append(table, OptionalLong.of(SHARED))),
    OVERWRITE(table -> table.commit(
        Shards.overwrite(OptionalLong.of(NEWEST), Shards.write(table.storage(), SCHEMA, 7)))),
    TAG(table -> table.tag(3, "name")),
    EXPIRE(table -> LaterTable.expire(table.storage(), 1)),
    SWEEP(table -> LaterTable.of(table.storage())
        .sweep(SweepOptions.defaults().withMode(CareMode.DELETE), orphan -> {}));

    private final Consumer<RecordTable> use;

    Use(Consumer<RecordTable> use) {
      this.use = use;
    }

    /** Tells whether older versions are needed as well. */
    boolean isOfOlder() {
      return this == APPEND_ON_A_BASE || this == TAG || this == EXPIRE || this == SWEEP;
    }

    private static void append(RecordTable table, OptionalLong base) {
      table.commit(Shards.append(base, Shards.write(table.storage(), SCHEMA, 7)));
    }
  }

  private List<String> manifests() {
    return storage.names().stream()
        .filter(name -> name.startsWith(ManifestNames.DIRECTORY))
        .sorted()
        .map(name -> name + " "
            + new String(storage.read(name, SealedJson.MAX_BYTES), StandardCharsets.UTF_8))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("cases")
  void whatWasReplacedIsUsedByNobody(Case made) {
    for (Use use : Use.values()) {
      ReplacedManifestTest fresh = new ReplacedManifestTest();
      fresh.make(made);
      fresh.isUsedByNobody(made, use);
    }
  }

  private void isUsedByNobody(Case made, Use use) {
    if (!made.isFound()) {
      return;
    }
    if (!made.isNearTheEnd() && !use.isOfOlder()) {
      use.use.accept(table);
      return;
    }
    List<String> before = manifests();
    assertThatThrownBy(() -> use.use.accept(table))
        .as("%s of %s", use, made)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("restore");
    assertThat(manifests()).as("%s of %s", use, made).isEqualTo(before);
  }

  /**
   * A reader of an older version gets the records of that version, or an error. The manifests that
   * a copy of the table published by itself follow one another, so they can be read.
   */
  @ParameterizedTest
  @MethodSource("cases")
  void noVersionHasTheRecordsOfAnother(Case made) {
    make(made);
    if (!made.isRepairable()) {
      return;
    }
    int read = 0;
    for (int version = 0; version <= NEWEST; version++) {
      try {
        assertThat(table.version(version).shards())
            .as("version %d", version)
            .isEqualTo(shards.subList(0, version + 1));
        read++;
        assertThat(made.replaced.versions).doesNotContain((long) version);
      } catch (CorruptDataException e) {
        assertThat(version).as("a version far from what was replaced").isGreaterThan(1);
      }
    }
    assertThat(read).isGreaterThan(1);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aCheckFindsIt(Case made) {
    make(made);
    boolean isSound = DatasetCheck.of(storage).run(finding -> {}).isSound();
    assertThat(isSound).isEqualTo(made.origin == Origin.DIVERGED_COPY && !made.isFound());
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aRepairGoesBackToWhatIsLeft(Case made) {
    make(made);
    if (!made.isRepairable()) {
      return;
    }
    RepairReport report =
        DatasetRepair.of(storage).restoringPrevious().run(finding -> {}, plan -> true);
    assertThat(report.isDone()).as("%s", report.plan()).isTrue();
    List<ShardSummary> left = List.copyOf(table.latest().shards());
    assertThat(left).isEqualTo(shards.subList(0, left.size()));
    assertThat(left).hasSizeGreaterThanOrEqualTo(SHARED + 1);
    assertThat(DatasetCheck.of(storage).run(finding -> {}).isSound()).isTrue();
    table.commit(Shards.append(Shards.newest(table), Shards.write(storage, SCHEMA, 7)));
    assertThat(DatasetRepair.of(storage).run(finding -> {}, plan -> true).plan().actions())
        .isEmpty();
  }

  /** A publisher of a table that was deleted writes its hint when another table is there. */
  @Test
  void aLateHintOfATableBeforeIsNoDamage() {
    for (Use use : Use.values()) {
      ReplacedManifestTest fresh = new ReplacedManifestTest();
      fresh.leaveLateHint();
      use.use.accept(fresh.table);
      assertThat(fresh.table.latest().version()).as("%s", use).isGreaterThanOrEqualTo(NEWEST);
    }
    leaveLateHint();
    assertThat(DatasetCheck.of(storage).run(finding -> {}).isSound()).isTrue();
    RepairReport report =
        DatasetRepair.of(storage).restoringPrevious().run(finding -> {}, plan -> true);
    assertThat(report.plan().actions()).isEmpty();
    assertThat(table.latest().shards()).isEqualTo(shards);
  }

  /**
   * A storage let a creation overwrite the creation of another table. The hint is of the table that
   * was lost, not of one that was there before, although all that is left follows.
   */
  @Test
  void aCreationThatOverwroteAnotherIsDamage() {
    appendUpTo(table, 0, 0);
    assertThat(table.retract(table.latest().commitId())).isTrue();
    MemoryStorage other = Simulation.storage();
    copy(storage, other);
    appendUpTo(table, 0, 0);
    appendUpTo(RecordTable.at(other), 0, 1000);
    long created = table.latest().version();
    assertThat(created).isGreaterThan(0);
    other.names().stream()
        .filter(name -> !name.equals(ManifestNames.HINT))
        .forEach(name -> copy(other, name, storage));
    assertThatThrownBy(table::latest)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("let one commit overwrite another");
    assertThat(DatasetCheck.of(storage).run(finding -> {}).isSound()).isFalse();
    // The control: without the hint it is a sound table.
    storage.delete(ManifestNames.HINT);
    assertThat(table.latest().version()).isEqualTo(created);
  }

  private void leaveLateHint() {
    appendUpTo(table, NEWEST, 0);
    MemoryStorage other = Simulation.storage();
    appendUpTo(RecordTable.at(other), NEWEST, 1000);
    copy(other, ManifestNames.HINT, storage);
  }
}
