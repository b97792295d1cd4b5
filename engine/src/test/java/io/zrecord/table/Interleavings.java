package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
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
 * Lets several work on one storage in every order of their calls that can make a difference: of
 * orders that differ only in neighbouring calls that do not touch the same names one is tried. Each
 * order is a run of its own from the start.
 *
 * <p>Source: Abdulla, Aronis, Jonsson, Sagonas, Optimal Dynamic Partial Order Reduction, 2014,
 * algorithm 1.
 */
final class Interleavings {
  private static final Set<String> CHANGES =
      Set.of("publish", "replace", "create", "delete", "deleteAll");

  /** What is worked on; a new one for each run. */
  interface World {
    /** Returns the storage; called once by each worker. */
    Storage storage();

    /** Returns what a worker works with, given its storage whose calls are put in order. */
    default Storage seen(Storage ordered) {
      return ordered;
    }

    /** Checks the world when all workers have ended. */
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

  private static final class Call {
    private final List<String> names;
    private final boolean isChange;
    private final boolean isList;
    private final boolean isTree;

    Call(String verb, List<String> names) {
      this.names = names;
      this.isChange = CHANGES.contains(verb);
      this.isList = verb.equals("list");
      this.isTree = verb.equals("listTree");
    }

    boolean commutesWith(Call other) {
      return !(isChange && touches(other)) && !(other.isChange && other.touches(this));
    }

    /** Returns whether what this call changes is what the other looks at or changes. */
    private boolean touches(Call other) {
      for (String name : names) {
        for (String its : other.names) {
          if (isWithin(name, its)
              || (other.isList && isListed(name, its))
              || (other.isTree && isWithin(its, name))) {
            return true;
          }
        }
      }
      return false;
    }

    private static boolean isWithin(String name, String its) {
      return its.startsWith(name)
          && (its.length() == name.length() || its.charAt(name.length()) == '/');
    }

    /**
     * Returns whether a list of a directory shows a name. The first file of a directory makes the
     * directory as well. Nobody asks which directories the table has.
     */
    private static boolean isListed(String name, String directory) {
      String parent = parent(name);
      return directory.equals(parent) || (!directory.isEmpty() && directory.equals(parent(parent)));
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
   * @param direct earlier calls of the run that cannot come after it
   * @param causes these and their own
   */
  private record Step(int worker, Call call, BitSet direct, BitSet causes) {}

  /** Works in a thread that waits before each of its calls until it is its turn. */
  private static final class Worker {
    private static final int MOST_THREADS = 1 << 20;

    /** Who works may do so with several threads. */
    private final Semaphore oneAtATime = new Semaphore(1);

    private final Semaphore turn = new Semaphore(0);
    private final Semaphore arrived = new Semaphore(0);
    private final Run run;
    private @Nullable Call pending;
    private boolean isStarted;
    private volatile boolean isGivenUp;

    Worker(Run run) {
      this.run = run;
    }

    private Object call(Storage target, Method method, Object[] given) throws Throwable {
      if (method.getName().equals("identity")) {
        return this;
      }
      if (Set.of("location", "pathOf", "isRemote", "requestsAtOnce").contains(method.getName())) {
        return invoke(target, method, given);
      }
      oneAtATime.acquireUninterruptibly();
      try {
        if (isGivenUp) {
          throw new GivenUpError();
        }
        pending = new Call(method.getName(), names(given));
        awaitTurn();
        if (isGivenUp) {
          throw new GivenUpError();
        }
        return invoke(target, method, given);
      } finally {
        oneAtATime.release();
      }
    }

    private static List<String> names(Object[] given) {
      List<String> names = new ArrayList<>();
      for (Object argument : given == null ? new Object[0] : given) {
        if (argument instanceof String name) {
          names.add(name);
        } else if (argument instanceof Collection<?> several) {
          several.forEach(name -> names.add((String) name));
        }
      }
      return names;
    }

    private static Object invoke(Storage target, Method method, Object[] given) throws Throwable {
      try {
        return method.invoke(target, given);
      } catch (InvocationTargetException e) {
        throw Objects.requireNonNull(e.getCause());
      }
    }

    /**
     * Says whose turn is next and waits for the own turn, without a change of threads if that is
     * next.
     */
    private void awaitTurn() {
      if (!isStarted) {
        isStarted = true;
        arrived.release();
      } else if (run.passTurn(this)) {
        return;
      }
      turn.acquireUninterruptibly();
    }

    <W extends World> void work(Work<W> work, W world) {
      try {
        Storage target = world.storage();
        work.run(world, world.seen((Storage) Proxy.newProxyInstance(
            Storage.class.getClassLoader(),
            new Class<?>[] {Storage.class},
            (proxy, method, given) -> call(target, method, given))));
      } catch (RuntimeException | Error e) {
        if (!isGivenUp) {
          throw e;
        }
      } finally {
        pending = null;
        if (!isStarted) {
          arrived.release();
        } else if (!isGivenUp) {
          run.passTurn(null);
        }
      }
    }

    Call pendingCall() {
      return Objects.requireNonNull(pending);
    }

    /** Lets all threads of the worker end. */
    void giveUp() {
      isGivenUp = true;
      turn.release(MOST_THREADS);
    }
  }

  /** One order, told by whoever's turn it is: never two at once. */
  private final class Run {
    private final List<Worker> workers = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();
    private final Semaphore over = new Semaphore(0);
    private Set<Integer> shown = Set.of();
    private boolean isEnded;
    private @Nullable Throwable failure;

    /** Returns whether it came to its end, as nothing shows the same. */
    <W extends World> boolean run(W world, List<Work<W>> work, ExecutorService threads)
        throws Exception {
      List<Future<?>> futures = new ArrayList<>();
      for (Work<W> one : work) {
        Worker worker = new Worker(this);
        workers.add(worker);
        futures.add(threads.submit(() -> worker.work(one, world)));
        worker.arrived.acquireUninterruptibly();
      }
      passTurn(null);
      over.acquireUninterruptibly();
      workers.forEach(Worker::giveUp);
      for (Future<?> future : futures) {
        future.get();
      }
      if (failure != null) {
        throw new IllegalStateException("Cannot repeat an order", failure);
      }
      if (isEnded) {
        world.check();
      }
      return isEnded;
    }

    /** Wakes whose turn is next, or returns that it is the caller's own. */
    boolean passTurn(@Nullable Worker caller) {
      try {
        return isNext(caller);
      } catch (RuntimeException | Error e) {
        failure = e;
        over.release();
        return false;
      }
    }

    private boolean isNext(@Nullable Worker caller) {
      Set<Integer> able = able();
      isEnded = able.isEmpty();
      if (isEnded || !isChosen(able)) {
        over.release();
        return false;
      }
      Choice choice = choices.get(steps.size());
      Worker chosen = workers.get(choice.chosen);
      Call call = chosen.pendingCall();
      shown = new HashSet<>(choice.shown);
      shown.removeIf(other -> !workers.get(other).pendingCall().commutesWith(call));
      steps.add(step(choice.chosen, call, steps));
      wantReversed(steps);
      if (chosen != caller) {
        chosen.turn.release();
      }
      return chosen == caller;
    }

    /**
     * Repeats the choices made, and goes on with new ones; {@code false} if all that may go on were
     * shown.
     */
    private boolean isChosen(Set<Integer> able) {
      if (steps.size() == choices.size()) {
        Choice next = new Choice(able, shown);
        if (!next.choose()) {
          return false;
        }
        choices.add(next);
      }
      return true;
    }

    private Set<Integer> able() {
      Set<Integer> able = new HashSet<>();
      for (int i = 0; i < workers.size(); i++) {
        if (workers.get(i).pending != null) {
          able.add(i);
        }
      }
      return able;
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
        count += all.new Run().run(worlds.get(), work, threads) ? 1 : 0;
      } while (all.goBack());
    } finally {
      threads.shutdownNow();
    }
    return count;
  }

  /**
   * Lets another worker go on at each earlier step after which the last step could as well have
   * come.
   */
  private void wantReversed(List<Step> steps) {
    int last = steps.size() - 1;
    Step step = steps.get(last);
    BitSet indirect = new BitSet();
    step.direct.stream().forEach(i -> indirect.or(steps.get(i).causes));
    for (int i = step.direct.nextSetBit(0); i >= 0; i = step.direct.nextSetBit(i + 1)) {
      if (steps.get(i).worker != step.worker && !indirect.get(i)) {
        Set<Integer> beginners = beginners(steps, i);
        Set<Integer> wanted = choices.get(i).wanted;
        if (beginners.stream().noneMatch(wanted::contains)) {
          wanted.add(beginners.iterator().next());
        }
      }
    }
  }

  /**
   * Returns the workers of whom a step may be the first of all steps that come after a step and do
   * not depend on it, including the last step.
   */
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

  private static Step step(int worker, Call call, List<Step> earlier) {
    BitSet direct = new BitSet();
    BitSet causes = new BitSet();
    for (int i = 0; i < earlier.size(); i++) {
      Step step = earlier.get(i);
      if (step.worker == worker || !step.call.commutesWith(call)) {
        direct.set(i);
        causes.or(step.causes);
      }
    }
    causes.or(direct);
    return new Step(worker, call, direct, causes);
  }

  /**
   * Goes back to the last choice that can be made in another way; {@code false} if there is none.
   */
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
