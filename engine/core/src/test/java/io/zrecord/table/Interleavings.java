package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.testing.Budget;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Lets several work on one storage in every order of their calls that can make a difference: of
 * orders that differ only in neighbouring calls that do not touch the same names one is tried. Each
 * order is a run of its own from the start.
 *
 * <p>A run finds the calls that could have come in another order. Each of them is the branch to
 * another run. {@link #all} takes the branch that repeats most calls of the last run, and ends when
 * no branch is left. {@link #some} takes branches by chance, and ends when it made enough runs.
 * Without that end it would try the same orders as {@link #all}, each once.
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
    private static final Pattern IDENTITY =
        Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");

    private final String verb;
    private final List<String> names;
    private final boolean isChange;
    private final boolean isList;
    private final boolean isTree;

    Call(String verb, List<String> names) {
      this.verb = verb;
      this.names = names;
      this.isChange = CHANGES.contains(verb);
      this.isList = verb.equals("list");
      this.isTree = verb.equals("listTree");
    }

    /** Returns the call as text that is the same in each run, whatever identities the run has. */
    String told(Map<String, Integer> known) {
      return verb + " "
          + names.stream()
              .map(name -> IDENTITY
                  .matcher(name)
                  .replaceAll(match -> String.valueOf(
                      known.computeIfAbsent(match.group(), identity -> known.size()))))
              .toList();
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

  /** A point in a run: who is to go on there, and of whom that was shown already. */
  private static final class Choice {
    final @Nullable Choice before;
    /** Who went on at the choice before, so that a run came here. */
    final int cameBy;

    final int depth;
    final Set<Integer> wanted = new HashSet<>();
    final Set<Integer> shown;

    /** The call of each worker who went on here. */
    final Map<Integer, String> calls = new HashMap<>();

    Choice(@Nullable Choice before, int cameBy, int depth, Set<Integer> shown) {
      this.before = before;
      this.cameBy = cameBy;
      this.depth = depth;
      this.shown = new HashSet<>(shown);
    }
  }

  /** A run that is to be made: as far as a choice as before, and there another worker goes on. */
  private record Branch(Choice choice, int worker) {}

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
      if (method.getName().equals("requestsAtOnce")) {
        // The order of calls of several threads would be another one in each run.
        return 1;
      }
      if (Set.of("location", "pathOf", "isRemote").contains(method.getName())) {
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
    /** The choices of the run so far; at first those up to its branch. */
    private final List<Choice> path = new ArrayList<>();

    /** Who goes on at the choices up to the branch. */
    private final List<Integer> repeated = new ArrayList<>();

    private final List<Integer> turns;

    /** The identities in names so far, which are others in each run, by their order. */
    private final Map<String, Integer> known = new HashMap<>();

    private Set<Integer> shown = Set.of();
    private boolean isEnded;
    private @Nullable Throwable failure;

    /**
     * Begins a run.
     *
     * @param turns all workers; the first who is able goes on where nothing else decides
     */
    Run(@Nullable Branch branch, List<Integer> turns) {
      this.turns = turns;
      if (branch != null) {
        repeated.add(branch.worker);
        for (Choice choice = branch.choice; choice != null; choice = choice.before) {
          path.add(choice);
          if (choice.before != null) {
            repeated.add(choice.cameBy);
          }
        }
        Collections.reverse(path);
        Collections.reverse(repeated);
      }
    }

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
      Choice choice = path.get(steps.size());
      int worker = turn(choice);
      Worker chosen = workers.get(worker);
      Call call = chosen.pendingCall();
      requireRepeated(choice, worker, call);
      shown = new HashSet<>(choice.shown);
      shown.removeIf(other -> !workers.get(other).pendingCall().commutesWith(call));
      if (steps.size() >= repeated.size() - 1) {
        choice.shown.add(worker);
      }
      steps.add(step(worker, call, steps));
      wantReversed(steps, path);
      if (chosen != caller) {
        chosen.turn.release();
      }
      return chosen == caller;
    }

    /**
     * Requires that a worker calls what the worker called here in an earlier run. Otherwise the
     * branches of that run lead elsewhere, and some orders are never tried.
     */
    private void requireRepeated(Choice choice, int worker, Call call) {
      String told = call.told(known);
      String before = choice.calls.putIfAbsent(worker, told);
      if (before != null && !before.equals(told)) {
        throw new IllegalStateException("Worker " + worker + " called " + told + " as call "
            + steps.size() + " of a run, and " + before + " in the same order before");
      }
    }

    /** Comes to the next choice; {@code false} if all that may go on were shown. */
    private boolean isChosen(Set<Integer> able) {
      int step = steps.size();
      if (step < path.size()) {
        return true;
      }
      Choice next = new Choice(
          step == 0 ? null : path.get(step - 1),
          step == 0 ? -1 : steps.get(step - 1).worker,
          step,
          shown);
      turns.stream()
          .filter(worker -> able.contains(worker) && !shown.contains(worker))
          .findFirst()
          .ifPresent(next.wanted::add);
      path.add(next);
      return !next.wanted.isEmpty();
    }

    /** Returns who goes on: as before, or the one that a new choice begins with. */
    private int turn(Choice choice) {
      return steps.size() < repeated.size()
          ? repeated.get(steps.size())
          : choice.wanted.iterator().next();
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

  /** The orders that {@link #some} tries at least: fewer would show little. */
  private static final int LEAST = 30;

  /** The orders that {@link #some} tries at most of a share, at scale 1: more show little else. */
  private static final int MOST = 2000;

  private final List<Branch> branches = new ArrayList<>();

  /** Chooses the next branch; {@code null} for the one that repeats most calls. */
  private final @Nullable Random random;

  private Interleavings(@Nullable Random random) {
    this.random = random;
  }

  /** Runs them all, checks each and returns how many there were. */
  static <W extends World> int all(Supplier<W> worlds, List<Work<W>> work) throws Exception {
    return ended(worlds, work).size();
  }

  /**
   * Runs them all, checks each and returns their worlds. A run that would only repeat another one
   * is given up, and its world is left out.
   */
  static <W extends World> List<W> ended(Supplier<W> worlds, List<Work<W>> work) throws Exception {
    List<W> ended = new ArrayList<>();
    new Interleavings(null).run(worlds, work, Integer.MAX_VALUE, () -> true, ended::add);
    return ended;
  }

  /**
   * Runs the share of them that {@link Budget#shareOfOrders} tells, at least {@value #LEAST}, and
   * unless all are to be tried the budget of {@value #MOST} at most, checks each and returns how
   * many there were.
   *
   * @param about the number of all orders; the true number is at least half of it and at most twice
   *     as large, which is checked when all orders were run
   * @param isShown returns whether everything came about that must come about in some order; more
   *     orders are run until it does
   */
  static <W extends World> int some(
      int about, Supplier<W> worlds, List<Work<W>> work, BooleanSupplier isShown) throws Exception {
    double share = Budget.shareOfOrders();
    double most = share < 1 ? (double) Budget.of(MOST) / about : 1;
    return some(about, Math.min(share, most), Budget.seed(), worlds, work, isShown);
  }

  /** Runs the share given, chosen by the seed given. */
  static <W extends World> int some(
      int about,
      double share,
      long seed,
      Supplier<W> worlds,
      List<Work<W>> work,
      BooleanSupplier isShown)
      throws Exception {
    Interleavings some = new Interleavings(share < 1 ? new Random(seed) : null);
    int least = share < 1 ? (int) Math.max(LEAST, Math.ceil(share * about)) : Integer.MAX_VALUE;
    int count;
    try {
      count = some.run(worlds, work, least, isShown, world -> {});
    } catch (Exception | Error e) {
      e.addSuppressed(new IllegalStateException(
          "A share of " + share + " of about " + about + " orders, with seed " + seed));
      throw e;
    }
    boolean isAll = some.branches.isEmpty();
    if (count == 0 || (isAll && (count < about / 2 || count > 2L * about))) {
      throw new AssertionError(count + (isAll ? " orders are all" : " orders were tried")
          + ", not a share of " + share + " of about " + about + ", with seed " + seed);
    }
    return count;
  }

  private <W extends World> int run(
      Supplier<W> worlds, List<Work<W>> work, int least, BooleanSupplier isShown, Consumer<W> ended)
      throws Exception {
    ExecutorService threads = Executors.newCachedThreadPool();
    int count = 0;
    Branch branch = null;
    try {
      do {
        Run run = new Run(branch, turns(work.size()));
        try {
          W world = worlds.get();
          if (run.run(world, work, threads)) {
            count++;
            ended.accept(world);
          }
        } catch (Exception | Error e) {
          e.addSuppressed(new IllegalStateException("After " + count + " orders, in that of "
              + run.steps.stream().map(Step::worker).toList()));
          throw e;
        }
        if (branches.isEmpty()) {
          return count;
        }
        branch = nextBranch();
      } while (count < least || !isShown.getAsBoolean());
      branches.add(branch);
    } finally {
      threads.shutdownNow();
    }
    return count;
  }

  private List<Integer> turns(int workers) {
    List<Integer> turns = new ArrayList<>(IntStream.range(0, workers).boxed().toList());
    if (random != null) {
      Collections.shuffle(turns, random);
    }
    return turns;
  }

  private Branch nextBranch() {
    int next = 0;
    if (random != null) {
      next = random.nextInt(branches.size());
    } else {
      for (int i = 1; i < branches.size(); i++) {
        next = branches.get(i).choice.depth > branches.get(next).choice.depth ? i : next;
      }
    }
    Collections.swap(branches, next, branches.size() - 1);
    return branches.remove(branches.size() - 1);
  }

  /**
   * Lets another worker go on at each earlier step after which the last step could as well have
   * come.
   */
  private void wantReversed(List<Step> steps, List<Choice> path) {
    int last = steps.size() - 1;
    Step step = steps.get(last);
    BitSet indirect = new BitSet();
    step.direct.stream().forEach(i -> indirect.or(steps.get(i).causes));
    for (int i = step.direct.nextSetBit(0); i >= 0; i = step.direct.nextSetBit(i + 1)) {
      if (steps.get(i).worker != step.worker && !indirect.get(i)) {
        Set<Integer> beginners = beginners(steps, i);
        Choice choice = path.get(i);
        if (beginners.stream().noneMatch(choice.wanted::contains)) {
          int worker = beginners.iterator().next();
          choice.wanted.add(worker);
          if (!choice.shown.contains(worker)) {
            branches.add(new Branch(choice, worker));
          }
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
}
