package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.rebalance.TableRelayout;
import io.zrecord.rebalance.order.RecordOrder;
import io.zrecord.sampler.Sampler;
import io.zrecord.sampler.Samplers;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Cases;
import io.zrecord.verify.DatasetCheck;
import io.zrecord.verify.Finding;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A relayout whose storage fails at every one of its calls, in every way, once and for good as at
 * the death of the process: the table is the old version, or the new one with its map, and the
 * caller is told which.
 */
final class RelayoutFaultTest {
  private static final int RECORDS = 60;
  private static final Sampler ORDER = Samplers.shuffle(RECORDS, 5);

  @TempDir
  Path directory;

  @ParameterizedTest
  @EnumSource
  void theTableIsTheOldOrTheNewOneWithItsMap(FaultyStorage.Fault fault) {
    int calls = relayout(fault, Integer.MAX_VALUE, 0);
    assertThat(calls).isGreaterThan(30);
    int published = 0;
    int tried = 0;
    for (int failing : new int[] {1, 1_000_000}) {
      for (long call : Cases.before(calls)) {
        assertThat((long) relayout(fault, (int) call, failing)).isGreaterThan(call);
        published += hasNew ? 1 : 0;
        tried++;
      }
    }
    // The control: calls that fail after the version was published are among those tried.
    assertThat(published).isBetween(1, tried - 1);
  }

  private boolean hasNew;

  /** Returns how many calls took place. */
  private int relayout(FaultyStorage.Fault fault, int call, int failing) {
    Path place = directory.resolve(UUID.randomUUID().toString());
    Storage storage = LocalStorage.at(place);
    RecordTable table = RecordTable.at(storage);
    table.commit(Shards.append(
        OptionalLong.empty(),
        Shards.write(storage, Shards.SCHEMA, LongStream.range(0, 40).toArray())));
    table.commit(Shards.append(
        OptionalLong.of(0),
        Shards.write(storage, Shards.SCHEMA, LongStream.range(40, RECORDS).toArray())));
    Set<String> before = shards(storage);
    FaultyStorage faulty = new FaultyStorage(storage, fault, call, failing);

    Optional<ZRecordException> failure = Optional.empty();
    try {
      TableRelayout.of(RecordTable.at(faulty).latest(), RecordOrder.shuffle(5))
          .layout(WriteOptions.defaults().withStripeBytes(1 << 16), 1 << 20)
          .threads(1)
          .run();
    } catch (ZRecordException e) {
      failure = Optional.of(e);
    }

    String situation = fault + " at call " + call + ", " + failing + " calls, " + failure;
    // Elsewhere, for the process keeps shards open by their place, and with them the storage that
    // failed.
    Path after = moved(place);
    storage = LocalStorage.at(after);
    table = RecordTable.at(storage);
    TableSnapshot now = table.latest();
    hasNew = now.version() == 2;
    check(now, situation);
    check(table.version(1), situation);
    if (failure.isEmpty()) {
      assertThat(hasNew).as(situation).isTrue();
    } else if (!(failure.get() instanceof CommitOutcomeUnknownException)) {
      assertThat(hasNew).as(situation).isFalse();
      if (failing == 1) {
        // What failed once may have been deleting one of them.
        assertThat(shards(storage)).as(situation).hasSizeLessThanOrEqualTo(before.size() + 1);
      }
    }
    DatasetCheck.of(after.toString())
        .allVersions()
        .run(finding ->
            assertThat(finding.kind()).as(situation + finding).isEqualTo(Finding.Kind.ORPHAN));
    return faulty.calls();
  }

  private static Path moved(Path place) {
    try {
      return Files.move(place, place.resolveSibling(place.getFileName() + "-after"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void check(TableSnapshot snapshot, String situation) {
    try (RecordDataset data = RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults());
        Batch batch = data.gather(LongStream.range(0, RECORDS).toArray(), "value")) {
      for (int i = 0; i < RECORDS; i++) {
        long expected = snapshot.version() == 2 ? ORDER.index(0, i) : i;
        assertThat(batch.value("value", i).getLong(0)).as(situation).isEqualTo(expected);
      }
    }
    assertThat(snapshot.indexMap().isPresent()).as(situation).isEqualTo(snapshot.version() == 2);
    snapshot.indexMap().ifPresent(map -> {
      for (int i = 0; i < RECORDS; i++) {
        assertThat(map.newIndex(ORDER.index(0, i))).as(situation).isEqualTo(i);
      }
    });
  }

  private static Set<String> shards(Storage storage) {
    return storage.list("shard").stream()
        .map(file -> file.name())
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
