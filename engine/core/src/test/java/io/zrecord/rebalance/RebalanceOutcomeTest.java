package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Commits of a rebalance of which nobody can tell whether they happened. */
class RebalanceOutcomeTest {
  private static final long MIB = 1 << 20;

  @TempDir
  Path directory;

  private final List<Integer> expected = new ArrayList<>();
  private final Set<Long> begun = ConcurrentHashMap.newKeySet();
  private final Set<String> written = ConcurrentHashMap.newKeySet();
  private final CountDownLatch unanswered = new CountDownLatch(1);
  private volatile Runnable answer = () -> {};
  private Path path;
  private RebalancePlan plan;

  @BeforeEach
  void fourGroups() {
    path = directory.resolve("table");
    for (int i = 0; i < 12; i++) {
      TableData.append(path, expected, 7_000, i);
    }
    plan = RebalancePlan.of(
        RecordTable.at(unanswering(LocalStorage.at(path))).latest(),
        RebalanceOptions.defaults().withShardBytes(MIB, MIB));
    assertThat(plan.groups()).hasSizeGreaterThanOrEqualTo(4);
  }

  /**
   * Makes a storage that answers no request to publish a manifest; no such request has an effect.
   */
  private Storage unanswering(Storage storage) {
    return (Storage) Proxy.newProxyInstance(
        Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, given) -> {
          if (method.getName().equals("publish")
              && given[0].toString().startsWith(ManifestNames.DIRECTORY)) {
            if (unanswered.getCount() > 0) {
              unanswered.countDown();
              answer.run();
            }
            throw new CommitOutcomeUnknownException(given[0].toString(), "no answer");
          }
          try {
            return method.invoke(storage, given);
          } catch (InvocationTargetException e) {
            throw Objects.requireNonNull(e.getCause());
          }
        });
  }

  private List<ShardSummary> rewrite(RebalanceGroup group, LongConsumer onMore) {
    begun.add(group.firstIndex());
    try (GroupRewriter rewriter =
        new GroupRewriter(plan.snapshot().storage(), plan.schema(), plan.options(), onMore)) {
      List<ShardSummary> shards = rewriter.rewrite(group);
      shards.forEach(shard -> written.add(shard.id().toString()));
      return shards;
    }
  }

  private void requireUntouched() {
    TableData.check(RecordTable.at(LocalStorage.at(path)).latest(), expected);
    // They would be needed if the commit has happened after all.
    assertThat(TableData.shardDirectories(path)).containsAll(written);
  }

  @Test
  void nothingMoreIsBegunAndNothingIsDeleted() {
    assertThatThrownBy(
            () -> TableRebalance.of(plan).threads(1).rewriting(this::rewrite).run())
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("no answer");
    assertThat(begun).containsExactly(0L);
    assertThat(written).hasSize(1);
    requireUntouched();
  }

  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void itIsToldEvenIfAnotherGroupFailsOtherwise() {
    // The failure of the other group is seen first: it is what interrupts this one.
    answer = () -> {
      while (!Thread.interrupted()) {
        LockSupport.park();
      }
    };
    assertThatThrownBy(() -> TableRebalance.of(plan)
            .threads(2)
            .rewriting(this::rewriteAllButTheFirst)
            .run())
        .isInstanceOf(CommitOutcomeUnknownException.class)
        .hasMessageContaining("no answer");
    assertThat(begun).containsExactlyInAnyOrder(0L, plan.groups().get(1).firstIndex());
    requireUntouched();
  }

  private List<ShardSummary> rewriteAllButTheFirst(RebalanceGroup group, LongConsumer onMore) {
    if (group.firstIndex() > 0) {
      return rewrite(group, onMore);
    }
    begun.add(0L);
    try {
      unanswered.await();
    } catch (InterruptedException e) {
      throw new AssertionError("Interrupted before anything failed", e);
    }
    throw new IllegalStateException("the first group fails as well");
  }
}
