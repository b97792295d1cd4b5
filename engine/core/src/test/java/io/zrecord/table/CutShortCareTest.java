package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.table.ManifestLog;
import io.zrecord.storage.Storage;
import io.zrecord.testing.Cases;
import io.zrecord.testing.DirectoryInMemory;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Care that is cut short at each of its calls, and what others do at each of them. */
final class CutShortCareTest {
  private static final ExpireOptions EXPIRE =
      ExpireOptions.defaults().withOlderThan(Duration.ofHours(1));
  private static final SweepOptions SWEEP =
      SweepOptions.defaults().withOlderThan(Duration.ofHours(1)).withMode(CareMode.DELETE);

  @TempDir(factory = DirectoryInMemory.class)
  Path directory;

  /**
   * Makes versions 0 to 6, of which 4 is the tag of version 1, and 0 to 4 share no shard with 5 and
   * 6; and a shard that was never committed. Care keeps 1 and 6, and makes versions 7 and 8.
   */
  private TableModel model() {
    TableModel model = new TableModel(directory.resolve(UUID.randomUUID().toString()));
    for (int version = 0; version < 4; version++) {
      model.append(2);
      model.pass(Duration.ofHours(3));
    }
    model.tag(1, "release");
    model.write(1);
    model.overwrite(3);
    model.pass(Duration.ofHours(3));
    model.append(1);
    model.pass(Duration.ofHours(3));
    return model;
  }

  private static void care(Storage storage, TableModel model) {
    RecordTable table = RecordTable.at(storage, model);
    table.expire(EXPIRE);
    table.sweep(SWEEP, orphan -> {});
  }

  @Test
  void cutShortAtEachCallItHarmsNoVersionAndCanBeDoneAgain() {
    TableModel whole = model();
    FaultyStorage sound =
        new FaultyStorage(whole.storage, FaultyStorage.Fault.BEFORE, Integer.MAX_VALUE, 0);
    care(sound, whole);
    assertThat(sound.calls()).isGreaterThan(40);
    int cut = 0;
    for (long call : Cases.before(sound.calls())) {
      TableModel model = model();
      FaultyStorage faulty =
          new FaultyStorage(model.storage, FaultyStorage.Fault.BEFORE, (int) call, sound.calls());
      try {
        care(faulty, model);
      } catch (ZRecordException e) {
        assertThat(e).hasMessageContaining("injected");
        cut++;
      }
      model.requireReadable(model.table);
      assertThat(model.table.versions()).contains(1L, 6L);
      // What was emptied in part looks younger; time passes, and the rest is done.
      model.pass(Duration.ofHours(2));
      care(model.storage, model);
      List<Long> versions = model.table.versions();
      assertThat(versions).startsWith(1L, 6L, 7L);
      model.requireReadable(model.table);
      model.versions.keySet().retainAll(versions);
      model.requireEqual();
      assertThat(shardsOf(model)).isEqualTo(model.namedShards());
      assertThat(new ManifestLog(model.storage).listed()).hasSize(versions.size() - 1);
    }
    assertThat(cut).isGreaterThan(4);
  }

  /** Without this the tests above could not fail. */
  @Test
  void aShardDeletedTooEarlyIsNoticed() {
    TableModel model = model();
    model.storage.delete(model.versions.get(6L).get(0).directory());
    assertThatThrownBy(() -> model.requireReadable(model.table))
        .isInstanceOf(ZRecordException.class);
  }

  @Test
  void aTagMadeAtAnyMomentKeepsItsVersionOrIsRefused() {
    int[] kept = new int[2];
    atEachCall(
        model -> {
          try {
            model.table.tag(2, "late");
            model.tags.put("late", 2L);
          } catch (VersionNotFoundException e) {
            assertThat(e).hasMessageContaining("it was expired");
          }
        },
        model -> {
          assertThat(model.table.tags()).hasSize(model.tags.size());
          model.requireReadable(model.table);
          kept[model.tags.size() - 1]++;
        });
    assertThat(kept[0]).as("tags refused").isPositive();
    assertThat(kept[1]).as("tags kept").isPositive();
  }

  @Test
  void commitsAndReadersAtAnyMomentAreNotHurt() {
    atEachCall(
        model -> {
          assertThat(model.table.latest().length()).isEqualTo(4);
          model.append(4);
          model.requireReadable(model.table);
        },
        model -> {
          // The append, the expiry and the sweep, in whatever order they came.
          assertThat(model.table.latest().version()).isEqualTo(9);
          assertThat(model.table.latest().length()).isEqualTo(8);
          assertThat(model.table.versions()).contains(1L, 6L).doesNotContain(5L);
          model.requireReadable(model.table);
        });
  }

  @Test
  void anotherCareAtAnyMomentIsNotHurt() {
    atEachCall(
        model -> model.table.sweep(SWEEP, orphan -> {}),
        model -> model.requireReadable(model.table));
  }

  /** Lets something happen before one call of a care after the other. */
  private void atEachCall(Consumer<TableModel> interruption, Consumer<TableModel> check) {
    TableModel whole = model();
    InterruptedStorage undisturbed =
        new InterruptedStorage(whole.storage, Integer.MAX_VALUE, () -> {});
    care(undisturbed.storage(), whole);
    for (long call : Cases.before(undisturbed.calls())) {
      TableModel model = model();
      InterruptedStorage interrupted =
          new InterruptedStorage(model.storage, (int) call, () -> interruption.accept(model));
      care(interrupted.storage(), model);
      assertThat((long) interrupted.calls()).isGreaterThan(call);
      check.accept(model);
    }
  }

  private static Set<String> shardsOf(TableModel model) {
    Map<String, Instant> files = model.files();
    return files.keySet().stream()
        .filter(file -> file.startsWith("shard/"))
        .map(file -> file.substring(0, file.indexOf('/', "shard/".length())))
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
