package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.testing.Cases;
import io.zrecord.testing.ForwardingStorage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A commit whose storage fails at every one of its calls, in every way. What the caller is told
 * must be what happened: success, a version names the shard; failure, no version does or ever will,
 * so the caller deletes it; unknown, nothing is deleted.
 */
final class FaultyCommitTest {
  @TempDir
  Path directory;

  @ParameterizedTest
  @EnumSource
  void everyFailureIsReportedAsWhatItWas(FaultyStorage.Fault fault) {
    int calls = tryCommit(fault, Integer.MAX_VALUE, 0, 1);
    assertThat(calls).isGreaterThan(5);
    for (int failing : new int[] {1, 1000}) {
      for (long call : Cases.before(calls)) {
        assertThat((long) tryCommit(fault, (int) call, failing, 1)).isGreaterThan(call);
      }
    }
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DELAYED")
  void soIsItWhenListsAreWritten(FaultyStorage.Fault fault) {
    int calls = tryCommit(fault, Integer.MAX_VALUE, 0, 1001);
    // Checking the shards takes most of the calls; all calls around them are tried.
    assertThat(calls).isGreaterThan(1001);
    for (int failing : new int[] {1, 1000}) {
      for (long call : Cases.before(30)) {
        tryCommit(fault, (int) call, failing, 1001);
      }
      for (long call : Cases.between(calls - 20, calls)) {
        tryCommit(fault, (int) call, failing, 1001);
      }
    }
  }

  /** Nobody else knows the name of a list, so whatever is there was written before. */
  @ParameterizedTest
  @EnumSource(names = {"RESPONSE_LOST", "REQUEST_LOST", "REPEATED"})
  void aListWhoseAnswerIsLostIsNoFailure(FaultyStorage.Fault fault) {
    Storage storage = LocalStorage.at(directory);
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 3);
    RecordTable table = RecordTable.at(new FaultyLists(storage, fault));
    TableSnapshot committed = table.commit(Shards.change(
        TableChange.Kind.APPEND,
        OptionalLong.empty(),
        Shards.SCHEMA,
        Collections.nCopies(1001, shard)));
    assertThat(committed.length()).isEqualTo(1001);
    assertThat(RecordTable.at(storage).latest().shards()).hasSize(1001);
  }

  /** Fails the first publication of a list. */
  private static final class FaultyLists extends ForwardingStorage {
    private final FaultyStorage.Fault fault;
    private boolean isOver;

    FaultyLists(Storage storage, FaultyStorage.Fault fault) {
      super(storage);
      this.fault = fault;
    }

    @Override
    public boolean publish(String name, byte[] content) {
      if (isOver || !name.startsWith("list/")) {
        return super.publish(name, content);
      }
      isOver = true;
      return new FaultyStorage(storage, fault, 0, 1).publish(name, content);
    }
  }

  /** Returns how many calls took place. */
  private int tryCommit(FaultyStorage.Fault fault, int call, int failing, int copies) {
    Storage storage = LocalStorage.at(directory.resolve(UUID.randomUUID().toString()));
    RecordTable table = RecordTable.at(storage);
    table.commit(Shards.append(OptionalLong.empty(), Shards.write(storage, Shards.SCHEMA, 1)));
    table.commit(Shards.append(OptionalLong.of(0), Shards.write(storage, Shards.SCHEMA, 2)));
    ShardSummary shard = Shards.write(storage, Shards.SCHEMA, 3);
    List<ShardSummary> added = new ArrayList<>();
    for (int i = 0; i < copies; i++) {
      added.add(shard);
    }
    FaultyStorage faulty = new FaultyStorage(storage, fault, call, failing);
    TableChange change =
        Shards.change(TableChange.Kind.APPEND, OptionalLong.of(1), Shards.SCHEMA, added);

    Optional<ZRecordException> failure = Optional.empty();
    try {
      assertThat(RecordTable.at(faulty).commit(change).version()).isEqualTo(2);
    } catch (ZRecordException e) {
      failure = Optional.of(e);
    }

    int calls = faulty.calls();
    faulty.landDelayed();
    String situation = fault + " at call " + call + ", " + failing + " calls, " + failure;
    TableSnapshot now = table.latest();
    boolean isPublished = now.length() == 2 + copies;
    assertThat(isPublished || now.length() == 2).as(situation).isTrue();
    if (failure.isEmpty()) {
      assertThat(isPublished).as(situation).isTrue();
    } else if (!(failure.get() instanceof CommitOutcomeUnknownException)) {
      assertThat(isPublished).as(situation).isFalse();
      assertThat(storage.list("list")).as(situation + ": lists left").hasSizeLessThanOrEqualTo(1);
    }
    // Whatever happened, the same change again takes effect exactly once.
    assertThat(table.commit(change).length()).as(situation).isEqualTo(2 + copies);
    assertThat(table.latest().length()).as(situation).isEqualTo(2 + copies);
    return calls;
  }
}
