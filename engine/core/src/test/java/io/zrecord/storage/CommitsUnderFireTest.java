package io.zrecord.storage;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.StorageException;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.storage.AppendLog.Outcome;
import io.zrecord.testing.Budget;
import io.zrecord.testing.FaultyProxy;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.HttpFault;
import io.zrecord.testing.HttpRequest;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Appends to a table whose object store answers wrongly, late or not at all. Afterwards the table
 * has each acknowledged append once, an unknown one at most once, and a refused one never.
 */
public abstract class CommitsUnderFireTest {
  private static final int COMMITTERS = 16;

  private static final Map<String, HttpFault> FAULTS = new TreeMap<>(Map.of(
      "answer lost", HttpFault.answerLost(),
      "request reset at its head", HttpFault.requestReset(0),
      "request reset at byte 20", HttpFault.requestReset(20),
      "409", HttpFault.refused(409, "ConditionalRequestConflict"),
      "500", HttpFault.refused(500, "InternalError"),
      "503", HttpFault.refused(503, "SlowDown"),
      "answer reset at byte 10", HttpFault.bodyReset(10),
      "done and 409", HttpFault.doneAnd(409, "PathAlreadyExists"),
      "done and 412", HttpFault.echo()));

  private final String name = "table of " + UUID.randomUUID();
  private FaultyProxy proxy;
  private Storage healthy;

  /** Returns where the server is reached. */
  protected abstract URI server();

  /** Returns how the server answers who meets the own success. */
  protected HttpFault echo() {
    return HttpFault.echo();
  }

  /**
   * Opens a storage that reaches the server at an endpoint, and gives up soon: a request is
   * repeated at least once and a few times at most, without long pauses.
   *
   * @param dataset name of its root, which has no file at first
   */
  protected abstract Storage storage(URI endpoint, String dataset);

  @BeforeEach
  void start() throws Exception {
    proxy = FaultyProxy.before(server());
    healthy = storage(server(), name);
  }

  @AfterEach
  void stop() throws Exception {
    proxy.close();
    OpenShards.shared().clear();
  }

  private Storage underFire() {
    return storage(proxy.endpoint(), name);
  }

  @Test
  void eachFaultAtEachRequestOfAnAppendIsReportedAsWhatItWas() {
    AppendLog log = new AppendLog();
    Storage storage = underFire();
    long value = 0;
    log.append(storage, value++, "no fault");
    proxy.heal();
    log.append(storage, value++, "no fault");
    int requests = proxy.requests().size();
    Random random = Budget.random();
    for (Map.Entry<String, HttpFault> fault : FAULTS.entrySet()) {
      for (int times : new int[] {1, Integer.MAX_VALUE}) {
        int[] numbers = random
            .ints(0, requests)
            .distinct()
            .limit(Math.min(requests, Budget.of(1 + requests / 10)))
            .toArray();
        for (int from : numbers) {
          proxy.heal();
          proxy.inject(times, request -> request.number() >= from, fault.getValue());
          log.append(storage, value++, fault.getKey() + " at request " + from + ", " + times);
        }
      }
    }
    requirePromised(log, requests + " requests of an append");
  }

  @Test
  void everyFaultOfTheRequestThatPublishesIsReportedAsWhatItWas() {
    Random random = Budget.random();
    AppendLog log = new AppendLog();
    Storage storage = underFire();
    long value = 0;
    for (Map.Entry<String, HttpFault> fault : FAULTS.entrySet()) {
      List<Integer> each = new ArrayList<>(List.of(1, 3, Integer.MAX_VALUE));
      Collections.shuffle(each, random);
      for (int times : each.subList(0, Math.min(each.size(), Budget.of(each.size())))) {
        proxy.heal();
        proxy.inject(times, CommitsUnderFireTest::publishes, fault.getValue());
        log.append(storage, value++, fault.getKey() + " of the publication, " + times);
      }
    }
    requirePromised(log, "publications");
  }

  /** The first try took effect, whatever the second is told. */
  @Test
  void aDenialAfterALostAnswerIsNotTakenForARefusal() {
    AppendLog log = new AppendLog();
    Storage storage = underFire();
    log.append(storage, 0, "no fault");
    proxy.inject(1, CommitsUnderFireTest::publishes, HttpFault.answerLost());
    proxy.inject(1, CommitsUnderFireTest::publishes, HttpFault.refused(403, "AccessDenied"));
    assertThat(log.append(storage, 1, "denied once")).isEqualTo(Outcome.ACKNOWLEDGED);
    proxy.heal();
    proxy.inject(1, CommitsUnderFireTest::publishes, HttpFault.answerLost());
    proxy.inject(
        Integer.MAX_VALUE,
        request -> proxy.requests().stream().anyMatch(CommitsUnderFireTest::publishes)
            && !request.target().contains("/shard/"),
        HttpFault.refused(403, "AccessDenied"));
    assertThat(log.append(storage, 2, "denied from then on")).isEqualTo(Outcome.UNKNOWN);
    requirePromised(log, "denials");
  }

  private static boolean publishes(HttpRequest request) {
    return request.method().equals("PUT") && request.target().contains("/manifest/0");
  }

  @Test
  void committersAtOnceLoseNothing() throws Exception {
    AppendLog log = new AppendLog();
    race(log, 1);
    assertThat(log.failures()).isEmpty();
    assertThat(log.count(Outcome.ACKNOWLEDGED)).isEqualTo(COMMITTERS);
    requirePromised(log, "committers at once");
  }

  @Test
  void committersAtOnceUnderRandomFaultsLoseNothing() throws Exception {
    AppendLog log = new AppendLog();
    for (int fire = 0; fire < Budget.of(1); fire++) {
      proxy.heal();
      proxy.injectAtRandom(Budget.seed() + fire, 0.03, new ArrayList<>(FAULTS.values()));
      race(log, 1);
    }
    requirePromised(log, "random faults");
  }

  private final AtomicLong nextValue = new AtomicLong();

  private void race(AppendLog log, int appends) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(COMMITTERS);
    try {
      List<Callable<Outcome>> committers = new ArrayList<>();
      for (int committer = 0; committer < COMMITTERS; committer++) {
        Storage storage = underFire();
        committers.add(() -> {
          Outcome last = Outcome.REFUSED;
          for (int i = 0; i < appends; i++) {
            last = log.append(storage, nextValue.getAndIncrement(), "race");
          }
          return last;
        });
      }
      for (Future<Outcome> committer : threads.invokeAll(committers)) {
        committer.get();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private void requirePromised(AppendLog log, String what) {
    proxy.heal();
    OpenShards.shared().clear();
    System.out.println(getClass().getSimpleName() + ": " + what + ": "
        + log.count(Outcome.ACKNOWLEDGED) + " acknowledged, " + log.count(Outcome.UNKNOWN)
        + " unknown, " + log.count(Outcome.REFUSED) + " refused");
    assertThat(log.problems(healthy)).isEmpty();
    assertThat(log.append(healthy, -1, "afterwards")).isEqualTo(Outcome.ACKNOWLEDGED);
  }

  /**
   * The control: a client that mistakes the echo of its own success for a refusal breaks the
   * promise.
   */
  @Test
  void whoDoesNotReadBackBreaksThePromise() {
    AppendLog log = new AppendLog();
    Storage storage = new WithoutReadBack(underFire());
    log.append(storage, 0, "no fault");
    proxy.inject(1, CommitsUnderFireTest::publishes, echo());
    log.append(storage, 1, "echo");
    proxy.heal();
    OpenShards.shared().clear();
    assertThat(log.problems(healthy)).isNotEmpty();
  }

  /** Believes what a publication is answered, as if nobody ever repeated a request. */
  private static final class WithoutReadBack extends ForwardingStorage {
    WithoutReadBack(Storage storage) {
      super(storage);
    }

    @Override
    public boolean publish(String name, byte[] content) {
      if (!storage.publish(name, content)) {
        throw new StorageException(pathOf(name), "Another commit has the version");
      }
      return true;
    }
  }
}
