package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets several work on one storage in every order of their calls that can make a difference: of orders that differ only in neighbouring calls
 * that do not touch the same names one is tried. Each order is a run of its own from the start.
 *
 * <p>Source: Abdulla, Aronis, Jonsson, Sagonas, Optimal Dynamic Partial Order Reduction, 2014, algorithm 1.
 */
final class Interleavings {
  private static final Set<String> CHANGES = Set.of("publish", "create", "rename", "delete");

  /** What is worked on; a new one for each run. */
  interface World {
    /** Is asked once by each who works. */
    Storage storage();

    /** Is called when all have ended. */
    void check();
  }

  /** What one does, with calls of the storage given only. */
  interface Work<W> {
    void run(W world, Storage storage);
  }

  /** Ends a thread whose run is given up; no handler of exceptions takes it. */
  private static final class GivenUpError extends Error {
    private static final long serialVersionUID = 1;
  }

  private record Call(String verb, List<String> names) {
    boolean commutesWith(Call other) {
      return !(CHANGES.contains(verb) && touches(other))
          && !(CHANGES.contains(other.verb) && other.touches(this));
    }

    /** Whether what this changes is what the other looks at or changes. */
    private boolean touches(Call other) {
      return names.stream()
          .anyMatch(name -> other.names.stream().anyMatch(its -> {
            if (its.startsWith(name + "/") || its.equals(name)) {
              return true;
            }
            String parent = parent(name);
            // The first file of a directory makes that as well. Which directories the table has is
            // not asked.
            return other.verb.equals("list")
                && (its.equals(parent) || (!its.isEmpty() && its.equals(parent(parent))));
          }));
    }

    private static String parent(String name) {
      return name.substring(0, Math.max(0, name.lastIndexOf('/')));
    }
  }

  /** A point in a run: who is to go on there, of whom that was shown already, and who does now. */
  private static final class Choice {
    final Set<Integer> wanted = new HashSet<>();
    final Set<Integer> shown;
    int chosen;

    /** Begins with anybody who is able to go on. */
    Choice(Set<Integer> able, Set<Integer> shown) {
      this.shown = new HashSet<>(shown);
      able.stream().filter(worker -> !shown.contains(worker)).findFirst().ifPresent(wanted::add);
    }

    boolean choose() {
      for (int worker : wanted) {
        if (!shown.contains(worker)) {
          chosen = worker;
          return true;
        }
      }
      return false;
    }
  }

  /**
   * A call that was made.
   *
   * @param causes earlier calls of the run that cannot come after it
   */
  private record Step(int worker, Call call, BitSet causes) {}

  /** One who works, in a thread that stands before each of its calls. */
  private static final class Worker {
    private final Semaphore go = new Semaphore(0);
    private final Semaphore arrived = new Semaphore(0);
    private volatile @Nullable Call pending;
    private volatile boolean isGivenUp;

    private Object call(Storage target, Method method, Object[] given) throws Throwable {
      if (isGivenUp) {
        throw new GivenUpError();
      }
      List<String> names = new ArrayList<>();
      for (Object argument : given == null ? new Object[0] : given) {
        if (argument instanceof String name) {
          names.add(name);
        }
      }
      if (!Set.of("location", "pathOf").contains(method.getName())) {
        pending = new Call(method.getName(), names);
        arrived.release();
        go.acquireUninterruptibly();
        if (isGivenUp) {
          throw new GivenUpError();
        }
      }
      try {
        return method.invoke(target, given);
      } catch (InvocationTargetException e) {
        throw Objects.requireNonNull(e.getCause());
      }
    }

    <W extends World> void run(Work<W> work, W world) {
      try {
        Storage target = world.storage();
        work.run(world, (Storage) Proxy.newProxyInstance(
            Storage.class.getClassLoader(),
            new Class<?>[] {Storage.class},
            (proxy, method, given) -> call(target, method, given)));
      } catch (RuntimeException | Error e) {
        if (!isGivenUp) {
          throw e;
        }
      } finally {
        pending = null;
        arrived.release();
      }
    }

    Call pendingCall() {
      return Objects.requireNonNull(pending);
    }

    void step() {
      go.release();
      arrived.acquireUninterruptibly();
    }

    void giveUp() {
      isGivenUp = true;
      if (pending != null) {
        step();
      }
    }
  }

  private final List<Choice> choices = new ArrayList<>();

  private Interleavings() {}

  /** Runs them all, checks each and returns how many there were. */
  static <W extends World> int run(Supplier<W> worlds, List<Work<W>> work) throws Exception {
    Interleavings all = new Interleavings();
    ExecutorService threads = Executors.newCachedThreadPool();
    int count = 0;
    try {
      do {
        count += all.runOnce(worlds.get(), work, threads) ? 1 : 0;
      } while (all.goBack());
    } finally {
      threads.shutdownNow();
    }
    return count;
  }

  /** Returns whether it came to its end, as nothing shows the same. */
  private <W extends World> boolean runOnce(W world, List<Work<W>> work, ExecutorService threads)
      throws Exception {
    List<Worker> workers = new ArrayList<>();
    List<Future<?>> futures = new ArrayList<>();
    for (Work<W> one : work) {
      Worker worker = new Worker();
      workers.add(worker);
      futures.add(threads.submit(() -> worker.run(one, world)));
      worker.arrived.acquireUninterruptibly();
    }
    boolean isEnded = follow(workers);
    workers.forEach(Worker::giveUp);
    for (Future<?> future : futures) {
      future.get();
    }
    if (isEnded) {
      world.check();
    }
    return isEnded;
  }

  /** Repeats the choices made, and goes on with new ones. */
  private boolean follow(List<Worker> workers) {
    List<Step> steps = new ArrayList<>();
    Set<Integer> shown = Set.of();
    while (true) {
      Set<Integer> able = able(workers);
      if (able.isEmpty()) {
        return true;
      }
      if (steps.size() == choices.size()) {
        Choice next = new Choice(able, shown);
        if (!next.choose()) {
          return false;
        }
        choices.add(next);
      }
      Choice choice = choices.get(steps.size());
      Worker chosen = workers.get(choice.chosen);
      Call call = chosen.pendingCall();
      shown = new HashSet<>(choice.shown);
      shown.removeIf(other -> !workers.get(other).pendingCall().commutesWith(call));
      steps.add(new Step(choice.chosen, call, causes(choice.chosen, call, steps)));
      wantReversed(steps);
      chosen.step();
    }
  }

  /** Where the last step could as well have come before an earlier one, somebody goes on there with whom this begins. */
  private void wantReversed(List<Step> steps) {
    int last = steps.size() - 1;
    Step step = steps.get(last);
    BitSet indirect = new BitSet();
    for (int i = 0; i < last; i++) {
      if (isDirectCause(steps.get(i), step)) {
        indirect.or(steps.get(i).causes);
      }
    }
    for (int i = 0; i < last; i++) {
      Step earlier = steps.get(i);
      if (earlier.worker != step.worker && isDirectCause(earlier, step) && !indirect.get(i)) {
        Set<Integer> beginners = beginners(steps, i);
        Set<Integer> wanted = choices.get(i).wanted;
        if (beginners.stream().noneMatch(wanted::contains)) {
          wanted.add(beginners.iterator().next());
        }
      }
    }
  }

  /** Those of whom a step may be the first of all that come behind a step and without it, the last step included. */
  private static Set<Integer> beginners(List<Step> steps, int without) {
    Set<Integer> beginners = new HashSet<>();
    BitSet behind = new BitSet();
    for (int j = without + 1; j < steps.size(); j++) {
      Step step = steps.get(j);
      if (j == steps.size() - 1 || !step.causes.get(without)) {
        if (!step.causes.intersects(behind)) {
          beginners.add(step.worker);
        }
        behind.set(j);
      }
    }
    return beginners;
  }

  private static boolean isDirectCause(Step earlier, Step step) {
    return earlier.worker == step.worker || !earlier.call.commutesWith(step.call);
  }

  private static BitSet causes(int worker, Call call, List<Step> steps) {
    BitSet causes = new BitSet();
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      if (step.worker == worker || !step.call.commutesWith(call)) {
        causes.or(step.causes);
        causes.set(i);
      }
    }
    return causes;
  }

  private static Set<Integer> able(List<Worker> workers) {
    Set<Integer> able = new HashSet<>();
    for (int i = 0; i < workers.size(); i++) {
      if (workers.get(i).pending != null) {
        able.add(i);
      }
    }
    return able;
  }

  /** To the last choice that can be made in another way; {@code false} if there is none. */
  private boolean goBack() {
    while (!choices.isEmpty()) {
      Choice last = choices.get(choices.size() - 1);
      last.shown.add(last.chosen);
      if (last.choose()) {
        return true;
      }
      choices.remove(choices.size() - 1);
    }
    return false;
  }
}
