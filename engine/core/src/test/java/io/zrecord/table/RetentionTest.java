package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitConflictException;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.StorageException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What tags, expiring and sweeping do to those who ask for versions and to those who commit. */
final class RetentionTest {
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  @TempDir
  Path directory;

  private TableModel model;
  private RecordTable table;

  @BeforeEach
  void fiveVersions() {
    model = new TableModel(directory.resolve("table"));
    table = model.table;
    for (int version = 0; version < 5; version++) {
      model.append(1);
      model.pass(Duration.ofHours(2));
    }
  }

  @Test
  void aTagNamesItsVersionForGood() {
    table.tag(3, "release-1.0");
    table.tag(3, "release-1.0");
    assertThat(table.latest().version()).as("the second time is no version").isEqualTo(5);
    table.tag(3, "best");
    assertThat(model.storage.list("tag")).as("copies of version 3").hasSize(2);
    model.append(1);
    assertThat(table.tagged("release-1.0").version()).isEqualTo(3);
    assertThat(table.tags()).extracting(Tag::name).containsExactly("best", "release-1.0");
    assertThatThrownBy(() -> table.tag(4, "best"))
        .isInstanceOf(CommitConflictException.class)
        .hasMessageContaining("taken by version 3");
    assertThatThrownBy(() -> table.tag(9, "future"))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("0 to 7");
    table.untag("best");
    table.tag(4, "best");
    assertThat(table.tagged("best").version()).isEqualTo(4);
    assertThatThrownBy(() -> table.tagged("worst"))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("best, release-1.0");
    assertThatThrownBy(() -> table.untag("worst")).isInstanceOf(VersionNotFoundException.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "7", "Latest", ".x", "..", "a/b", "a b", "ä", "../../etc/passwd"})
  void otherNamesAreRefused(String name) {
    assertThatThrownBy(() -> table.tag(0, name)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> table.tagged(name)).isInstanceOf(IllegalArgumentException.class);
    assertThat(table.tags()).isEmpty();
  }

  @Test
  void whoAsksForAnExpiredVersionIsTold() {
    table.tag(1, "kept");
    var time = table.version(2).timestamp();
    assertThat(table.expire(EXPIRE.withKeepVersions(2)))
        .isEqualTo(new ExpireResult(CareMode.DELETE, List.of(0L, 2L), 1, 4));
    // Version 5 is the tag, and 6 the expiry.
    assertThat(table.versions()).containsExactly(1L, 3L, 4L, 5L, 6L);
    assertThatThrownBy(() -> table.version(2))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("it was expired")
        .hasMessageContaining("1, 3 to 6");
    // Version 1 is there, but it was not in force at that time.
    assertThatThrownBy(() -> table.asOf(time))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("between 1 and 3");
    assertThat(table.asOf(table.version(3).timestamp()).version()).isEqualTo(3);
    assertThat(table.tagged("kept").length()).isEqualTo(2);
    assertThat(table.version(1).length()).isEqualTo(2);
    assertThat(table.latest().length()).isEqualTo(5);
  }

  @Test
  void aVersionBelowTheFloorIsGoneWithItsLastTag() {
    table.tag(1, "kept");
    table.expire(EXPIRE);
    table.tag(1, "best");
    table.untag("kept");
    assertThat(table.version(1).length()).isEqualTo(2);
    table.untag("best");
    assertThat(table.versions()).doesNotContain(1L);
    assertThatThrownBy(() -> table.version(1))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("it was expired");
    assertThatThrownBy(() -> table.tag(1, "again"))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("it was expired");
  }

  @Test
  void whatChangesNothingIsNoVersion() {
    assertThat(table.expire(EXPIRE.withMode(CareMode.DRY_RUN)).expired()).hasSize(4);
    assertThat(table.expire(EXPIRE.withKeepVersions(5)).expired()).isEmpty();
    assertThat(table.expire(EXPIRE.withOlderThan(Duration.ofDays(3))).expired()).isEmpty();
    table.sweep(SWEEP, orphan -> {});
    assertThat(table.latest().version()).isEqualTo(4);
    assertThat(table.expire(EXPIRE).expired()).hasSize(4);
    assertThat(table.expire(EXPIRE).expired()).isEmpty();
    assertThat(table.latest().version()).isEqualTo(5);
  }

  /** However many versions are kept, and whatever each of them has. */
  @Test
  void anExpiryReadsFewManifestsIfNoneIsDue() {
    AtomicInteger reads = new AtomicInteger();
    Storage counting = new ForwardingStorage(model.storage) {
      @Override
      public byte[] read(String name, int maxBytes) {
        reads.incrementAndGet();
        return super.read(name, maxBytes);
      }
    };
    ExpireOptions options = EXPIRE.withKeepVersions(4).withOlderThan(Duration.ofDays(1));
    assertThat(RecordTable.at(counting, model).expire(options).expired()).isEmpty();
    assertThat(reads)
        .as("twice the hint, the newest, the ones before and after; and the one after the floor")
        .hasValue(9);
  }

  /** Otherwise each tag would push out a version with other records. */
  @Test
  void versionsOfTagsAndExpiriesAreNotCountedAmongThoseThatAreKept() {
    table.tag(0, "a");
    table.tag(0, "b");
    table.untag("a");
    table.untag("b");
    model.pass(Duration.ofHours(2));
    assertThat(table.expire(EXPIRE.withKeepVersions(4)).expired()).containsExactly(0L);
    model.pass(Duration.ofHours(2));
    assertThat(table.expire(EXPIRE.withKeepVersions(4)).expired()).isEmpty();
    assertThat(table.expire(EXPIRE.withKeepVersions(2)).expired()).containsExactly(1L, 2L);
  }

  /** The last expiry was cut short before it had deleted anything. */
  @Test
  void manifestsThatACutShortExpiryLeftHaveNoMeaningAndGoWithTheNext() throws IOException {
    Path manifests = model.path.resolve("manifest");
    byte[] first = Files.readAllBytes(manifests.resolve("00000000000000000000.json"));
    byte[] second = Files.readAllBytes(manifests.resolve("00000000000000000002.json"));
    table.expire(EXPIRE);
    Files.write(manifests.resolve("00000000000000000000.json"), first);
    Files.write(manifests.resolve("00000000000000000002.json"), second);
    assertThat(table.versions()).containsExactly(4L, 5L);
    assertThatThrownBy(() -> table.version(2)).isInstanceOf(VersionNotFoundException.class);
    assertThat(table.expire(EXPIRE).expired()).isEmpty();
    assertThat(new ManifestLog(model.storage).listed()).hasSize(2);
    assertThat(table.latest().version()).isEqualTo(5);
  }

  @Test
  void whatWasNewestWithinTheAgeStays() {
    // Version 3 was superseded two hours ago, version 2 four hours ago.
    ExpireResult result = table.expire(EXPIRE.withOlderThan(Duration.ofHours(3)));
    assertThat(result.expired()).containsExactly(0L, 1L, 2L);
    assertThatThrownBy(() -> EXPIRE.withOlderThan(Duration.ofMinutes(59)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("PT59M");
    assertThatThrownBy(() -> EXPIRE.withKeepVersions(0))
        .isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> SWEEP.withOlderThan(Duration.ofMinutes(59)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  /** It may have been an overwrite, or the change itself, whose outcome was unknown before. */
  @Test
  void aCommitPlannedBeforeExpiredVersionsIsUnclear() throws IOException {
    Map<Path, byte[]> left = new HashMap<>();
    for (int version = 1; version < 4; version++) {
      Path manifest = model.path.resolve("manifest/0000000000000000000" + version + ".json");
      left.put(manifest, Files.readAllBytes(manifest));
    }
    ShardSummary shard = model.write(1);
    TableChange change = Shards.append(OptionalLong.of(0), shard);
    table.expire(EXPIRE);
    for (int time = 0; time < 2; time++) {
      assertThatThrownBy(() -> table.commit(change))
          .isInstanceOf(CommitOutcomeUnknownException.class)
          .hasMessageContaining("version 1");
      // What is left below the floor proves nothing: it may be of a commit that slept.
      for (Map.Entry<Path, byte[]> manifest : left.entrySet()) {
        Files.write(manifest.getKey(), manifest.getValue());
      }
    }
    assertThat(table.latest().length()).isEqualTo(5);
    assertThat(table.commit(Shards.append(OptionalLong.of(4), shard)).length()).isEqualTo(6);
  }

  /**
   * It slept before it published version 5, while others made versions 5 to 7 and expired 5 and 6.
   */
  @Test
  void aCommitThatTakesANumberOfAnExpiredVersionDoesNotSucceed() {
    ShardSummary shard = model.write(1);
    int unclear = 0;
    int calls = Integer.MAX_VALUE;
    for (int call = 0; call < calls; call++) {
      TableChange change = Shards.append(Shards.newest(table), shard);
      long length = table.latest().length();
      InterruptedStorage interrupted = new InterruptedStorage(model.storage, call, () -> {
        for (int i = 0; i < 3; i++) {
          table.commit(Shards.append(Shards.newest(table), model.write(1)));
          model.pass(Duration.ofHours(2));
        }
        table.expire(EXPIRE);
      });
      try {
        RecordTable.at(interrupted.storage(), model).commit(change);
        assertThat(table.latest().length())
            .isEqualTo(length + (interrupted.calls() > call ? 4 : 1));
      } catch (CommitOutcomeUnknownException e) {
        unclear++;
      }
      calls = Math.max(interrupted.calls(), call + 1);
    }
    assertThat(unclear).isPositive();
  }

  @Test
  void listsOfExpiredVersionsAreSweptAndThoseInUseAreNot() {
    ShardSummary shard = model.write(1);
    List<ShardSummary> many = Collections.nCopies(1001, shard);
    OptionalLong base = OptionalLong.of(4);
    table.commit(Shards.change(TableChange.Kind.OVERWRITE, base, Shards.SCHEMA, many));
    model.pass(Duration.ofHours(2));
    table.sweep(SWEEP, orphan -> {});
    assertThat(model.storage.list("list")).hasSize(1);
    assertThat(table.latest().shards()).hasSize(1001);
    table.commit(Shards.overwrite(OptionalLong.of(5), model.write(1)));
    model.pass(Duration.ofHours(2));
    table.expire(EXPIRE);
    SweepResult result = table.sweep(SWEEP, orphan -> {});
    assertThat(model.storage.list("list")).isEmpty();
    assertThat(model.storage.list("shard")).hasSize(1);
    assertThat(result.youngFileCount()).isZero();
    assertThat(table.latest().length()).isEqualTo(1);
  }

  @Test
  void nothingIsSweptWhileItIsUnclearWhatIsNeeded() throws IOException {
    Path damaged = model.path.resolve("manifest/00000000000000000002.json");
    byte[] content = Files.readAllBytes(damaged);
    model.write(1);
    model.pass(Duration.ofHours(2));
    Files.writeString(damaged, "damaged");
    assertThatThrownBy(() -> table.sweep(SWEEP, orphan -> {}))
        .isInstanceOf(CorruptDataException.class);
    Files.write(damaged, content);
    for (String[] suffixAndReason : new String[][] {
      {".damaged-" + UUID.randomUUID(), "a repair left"},
      {".tmp", "a copy has that was not finished"}
    }) {
      Path aside = model.path.resolve("manifest/00000000000000000005.json" + suffixAndReason[0]);
      Files.writeString(aside, "damaged");
      assertThatThrownBy(() -> table.sweep(SWEEP, orphan -> {}))
          .isInstanceOf(StorageException.class)
          .hasMessageContaining(aside.toString())
          .hasMessageContaining(suffixAndReason[1]);
      Files.delete(aside);
    }
    table.tag(2, "kept");
    table.expire(EXPIRE);
    Path copy = copy();
    Files.writeString(copy, "damaged");
    assertThatThrownBy(() -> table.sweep(SWEEP, orphan -> {}))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(copy.toString());
    Files.delete(copy);
    assertThatThrownBy(() -> table.sweep(SWEEP, orphan -> {}))
        .isInstanceOf(MissingFileException.class)
        .hasMessageContaining(copy.toString());
    assertThat(model.storage.list("shard")).hasSize(6);
    table.untag("kept");
    assertThat(table.sweep(SWEEP, orphan -> {}).fileCount()).isPositive();
    assertThat(model.storage.list("shard")).hasSize(5);
  }

  private Path copy() {
    return model.path.resolve("tag").resolve(model.storage.list("tag").get(0).name());
  }

  @Test
  void nothingIsExpiredWhileTheCopyOfATagIsDamaged() throws IOException {
    table.tag(2, "kept");
    byte[] content = Files.readAllBytes(copy());
    Path copy = copy();
    Files.write(copy, Arrays.copyOf(content, content.length - 1));
    assertThatThrownBy(() -> table.expire(EXPIRE))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(copy.toString());
    Files.delete(copy);
    assertThatThrownBy(() -> table.expire(EXPIRE)).isInstanceOf(MissingFileException.class);
    assertThat(table.versions()).containsExactly(0L, 1L, 2L, 3L, 4L, 5L);
    // The manifest itself is whole.
    assertThat(table.version(2).length()).isEqualTo(3);
    Files.write(copy, content);
    assertThat(table.expire(EXPIRE).expired()).containsExactly(0L, 1L, 3L);
    assertThat(table.tagged("kept").length()).isEqualTo(3);
  }

  /** Even if that manifest is sound. */
  @Test
  void anotherManifestInThePlaceOfACopyIsNoticed() throws IOException {
    table.tag(2, "kept");
    Path copy = copy();
    Path manifests = model.path.resolve("manifest");
    table.expire(EXPIRE);
    Files.copy(
        manifests.resolve("00000000000000000004.json"), copy, StandardCopyOption.REPLACE_EXISTING);
    assertThatThrownBy(() -> table.tagged("kept"))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining(copy.toString());
  }

  @Test
  void aTagWhoseCopyIsLostIsReadByTheManifestOrByTheCopyOfAnotherTag() throws IOException {
    table.tag(2, "kept");
    Files.delete(copy());
    assertThat(table.tagged("kept").length()).isEqualTo(3);
    table.untag("kept");
    table.tag(2, "first");
    Path first = copy();
    table.tag(2, "second");
    table.expire(EXPIRE);
    Files.writeString(first, "damaged");
    assertThat(table.tagged("first").length()).isEqualTo(3);
    assertThat(table.version(2).length()).isEqualTo(3);
    Files.delete(first);
    assertThat(table.tagged("first").length()).isEqualTo(3);
    // A tag of a version whose manifest is gone gets a copy of its own.
    table.untag("first");
    table.tag(2, "third");
    table.untag("second");
    model.pass(Duration.ofHours(2));
    table.sweep(SWEEP, orphan -> {});
    assertThat(model.storage.list("tag")).hasSize(1);
    assertThat(table.tagged("third").length()).isEqualTo(3);
  }

  /** It slept after it had made the copy. */
  @Test
  void aTagWhoseCopyIsSweptBeforeItIsPublishedGetsAnother() {
    List<Orphan> swept = new ArrayList<>();
    Storage slow = new ForwardingStorage(model.storage) {
      @Override
      public boolean publish(String name, byte[] content) {
        if (name.startsWith("manifest/") && swept.isEmpty()) {
          model.pass(Duration.ofHours(2));
          table.sweep(SWEEP, swept::add);
        }
        return super.publish(name, content);
      }
    };
    RecordTable.at(slow, model).tag(2, "kept");
    assertThat(swept).singleElement().extracting(Orphan::name).asString().startsWith("tag/");
    assertThat(model.storage.list("tag")).hasSize(1);
    assertThat(table.expire(EXPIRE).taggedCount()).isOne();
    assertThat(table.tagged("kept").length()).isEqualTo(3);
  }

  @Test
  void anExpiryWhoseManifestsCannotBeDeletedIsToldToHaveTakenEffect() {
    Storage failing = new ForwardingStorage(model.storage) {
      @Override
      public void delete(String name) {
        throw new StorageException(name, "Cannot delete " + name);
      }
    };
    assertThatThrownBy(() -> RecordTable.at(failing, model).expire(EXPIRE))
        .isInstanceOf(StorageException.class)
        .hasMessageContaining("before 4 were expired");
    assertThat(table.versions()).containsExactly(4L, 5L);
    assertThat(new ManifestLog(model.storage).listed()).hasSize(6);
    table.expire(EXPIRE);
    assertThat(new ManifestLog(model.storage).listed()).hasSize(2);
  }

  /** Whoever compares commits would take the newest for another one's, and discard the shards. */
  @Test
  void aTransactionThatIsSubmittedAgainAfterItsVersionWasExpiredIsUnclear() {
    TableChange change = TableChange.of(TableChange.Kind.APPEND, Shards.SCHEMA)
        .baseVersion(OptionalLong.of(4))
        .shards(List.of(model.write(1)))
        .transaction(Optional.of(new TableChange.Transaction("job", 1)))
        .build();
    assertThat(table.commit(change).version()).isEqualTo(5);
    assertThat(table.commit(change).commitId()).isEqualTo(change.commitId());
    for (int i = 0; i < 2; i++) {
      table.commit(Shards.append(Shards.newest(table), model.write(1)));
      model.pass(Duration.ofHours(2));
    }
    assertThat(table.commit(change).version()).isEqualTo(5);
    table.expire(EXPIRE);
    assertThat(table.versions()).containsExactly(7L, 8L);
    assertThatThrownBy(() -> table.commit(change))
        .isInstanceOf(CommitOutcomeUnknownException.class);
  }

  @Test
  void aVersionSaysWhatWasDoneAndByWhom() {
    long before =
        table.latest().shards().stream().mapToLong(ShardSummary::chunkBytes).sum();
    model.overwrite(7);
    assertThat(table.latest().properties())
        .containsEntry("removedBytes", String.valueOf(before))
        .containsEntry("user", System.getProperty("user.name"))
        .containsEntry("addedRecords", "7")
        .containsEntry("removedRecords", "5")
        .containsEntry(
            "addedBytes", String.valueOf(table.latest().shards().get(0).chunkBytes()));
  }

  @Test
  void anOverwriteThatKeepsShardsRemovesTheOthersAlone() {
    List<ShardSummary> shards = table.latest().shards();
    table.commit(Shards.overwrite(OptionalLong.of(4), shards.get(2), shards.get(2)));
    assertThat(table.latest().properties())
        .containsEntry("removedBytes", String.valueOf(4 * shards.get(0).chunkBytes()));
  }

  /** Otherwise nobody could get rid of it. */
  @Test
  void aVersionWithADamagedListCanBeReplaced() throws IOException {
    ShardSummary shard = model.write(1);
    List<ShardSummary> many = Collections.nCopies(1001, shard);
    table.commit(
        Shards.change(TableChange.Kind.OVERWRITE, OptionalLong.of(4), Shards.SCHEMA, many));
    String list = model.storage.list("list").get(0).name();
    Files.writeString(model.path.resolve("list").resolve(list), "damaged");
    table.commit(Shards.overwrite(OptionalLong.of(5), shard));
    assertThat(table.latest().length()).isEqualTo(1);
    assertThat(table.latest().properties()).doesNotContainKey("removedBytes");
  }
}
