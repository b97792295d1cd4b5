package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.storage.Storage;
import io.zrecord.table.Interleavings.Work;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** Small works of which another count tells how many orders of their calls there are. */
final class InterleavingsTest {
  /** The orders of two works of six calls each that all change the same file: 12 over 6. */
  private static final int ORDERS = 924;

  /** A call of a work: it looks at a file, or changes it. */
  private record Call(int worker, int number, String file, boolean isChange) {
    boolean conflictsWith(Call other) {
      return worker != other.worker
          && file.equals(other.file)
          && (isChange || other.isChange);
    }
  }

  private static final class World implements Interleavings.World {
    final MemoryStorage storage = new MemoryStorage();
    final List<Call> made = new ArrayList<>();
    private final List<List<Call>> orders;

    World(List<List<Call>> orders) {
      this.orders = orders;
    }

    @Override
    public Storage storage() {
      return storage;
    }

    @Override
    public void check() {
      orders.add(made);
    }
  }

  private static Work<World> work(List<Call> calls) {
    return (world, storage) -> {
      for (Call call : calls) {
        if (call.isChange) {
          storage.replace(call.file, new byte[1]);
        } else {
          storage.exists(call.file);
        }
        world.made.add(call);
      }
    };
  }

  /** Returns the works of two who change the same file six times, and one of their own between. */
  private static List<List<Call>> sixChangesEach() {
    List<List<Call>> works = List.of(new ArrayList<>(), new ArrayList<>());
    for (int worker = 0; worker < 2; worker++) {
      for (int number = 0; number < 12; number++) {
        String file = number % 2 == 0 ? "same" : "own of " + worker;
        works.get(worker).add(new Call(worker, number, file, true));
      }
    }
    return works;
  }

  private static List<Work<World>> works(List<List<Call>> calls) {
    return calls.stream().map(InterleavingsTest::work).toList();
  }

  /** Returns what tells an order from others that make a difference. */
  private static Set<String> difference(List<Call> order) {
    Set<String> pairs = new TreeSet<>();
    for (int i = 0; i < order.size(); i++) {
      for (Call later : order.subList(i, order.size())) {
        if (order.get(i).conflictsWith(later)) {
          pairs.add(order.get(i) + " before " + later);
        }
      }
    }
    return pairs;
  }

  private static Set<Set<String>> differences(List<List<Call>> orders) {
    Set<Set<String>> differences = new HashSet<>();
    orders.forEach(order -> differences.add(difference(order)));
    return differences;
  }

  private static List<List<Call>> all(List<List<Call>> calls) throws Exception {
    List<List<Call>> orders = new ArrayList<>();
    assertThat(Interleavings.all(() -> new World(orders), works(calls))).isEqualTo(orders.size());
    return orders;
  }

  private static List<List<Call>> some(int about, double share, long seed) throws Exception {
    List<List<Call>> orders = new ArrayList<>();
    int count = Interleavings.some(
        about, share, seed, () -> new World(orders), works(sixChangesEach()), () -> true);
    assertThat(count).isEqualTo(orders.size());
    return orders;
  }

  /** Runs in any order until there is nothing left, as no share is enough. */
  private static List<List<Call>> allInAnyOrder(List<List<Call>> calls, int about)
      throws Exception {
    List<List<Call>> orders = new ArrayList<>();
    Interleavings.some(
        about, 0.5, Budget.seed(), () -> new World(orders), works(calls), () -> false);
    return orders;
  }

  @Test
  void allOrdersThatMakeADifferenceAreTriedOnce() throws Exception {
    assertThat(differences(all(sixChangesEach()))).hasSize(ORDERS);
    assertThat(all(sixChangesEach())).hasSize(ORDERS);
    assertThat(some(ORDERS, 1, 1)).isEqualTo(all(sixChangesEach()));
  }

  @Test
  void aShareIsOfOtherOrdersForAnotherSeed() throws Exception {
    List<List<Call>> first = some(ORDERS, 0.1, 1);
    List<List<Call>> second = some(ORDERS, 0.1, 2);
    assertThat(first).hasSize(93);
    assertThat(differences(first)).hasSize(93).isNotEqualTo(differences(second));
    assertThat(differences(second)).hasSize(93);
    assertThat(some(ORDERS, 0.1, 1)).isEqualTo(first);
    assertThat(some(ORDERS, 0.0001, 1)).as("the least").hasSize(30);
  }

  @Test
  void aShareGoesOnUntilEverythingWasShown() throws Exception {
    List<List<Call>> orders = new ArrayList<>();
    int count = Interleavings.some(
        ORDERS,
        0.1,
        1,
        () -> new World(orders),
        works(sixChangesEach()),
        () -> orders.size() == 500);
    assertThat(count).isEqualTo(500);
  }

  @Test
  void aCountThatIsFarFromTrueIsRefused() {
    assertThatThrownBy(() -> some(2 * ORDERS + 2, 1, 1))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("924 orders are all");
    assertThatThrownBy(() -> some(ORDERS / 2 - 1, 1, 1)).isInstanceOf(AssertionError.class);
  }

  @Test
  void aFailureTellsItsOrderAndTheShare() {
    assertThatThrownBy(() -> Interleavings.some(
            ORDERS,
            0.1,
            7,
            () -> new World(new ArrayList<>()),
            List.<Work<World>>of((world, storage) -> {
              storage.exists("file");
              throw new IllegalStateException("on purpose");
            }),
            () -> true))
        .hasStackTraceContaining("on purpose")
        .hasStackTraceContaining("After 0 orders, in that of [0]")
        .hasStackTraceContaining("A share of 0.1 of about 924 orders, with seed 7");
  }

  /** Of three random works; all orders of their nine calls are compared, one by one. */
  @Test
  void noOrderIsForgottenInWhateverOrderTheyAreTried() throws Exception {
    Random random = Budget.random();
    int withChoice = 0;
    for (int round = 0; round < Budget.of(100); round++) {
      List<List<Call>> calls = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
      for (int worker = 0; worker < 3; worker++) {
        for (int number = 0; number < 3; number++) {
          String file = List.of("a", "b", "c").get(random.nextInt(3));
          calls.get(worker).add(new Call(worker, number, file, random.nextBoolean()));
        }
      }
      Set<Set<String>> expected = new HashSet<>();
      merge(calls, new int[3], new ArrayList<>(), expected);
      assertThat(differences(all(calls))).as("%s", calls).isEqualTo(expected);
      assertThat(all(calls)).as("%s", calls).hasSameSizeAs(expected);
      List<List<Call>> inAnyOrder = allInAnyOrder(calls, expected.size());
      assertThat(differences(inAnyOrder)).as("%s", calls).isEqualTo(expected);
      assertThat(inAnyOrder).as("%s", calls).hasSameSizeAs(expected);
      withChoice += expected.size() > 1 ? 1 : 0;
    }
    assertThat(withChoice).isPositive();
  }

  /** Adds the differences of all orders of calls that begin with some. */
  private static void merge(
      List<List<Call>> calls, int[] made, List<Call> order, Set<Set<String>> differences) {
    boolean isEnd = true;
    for (int worker = 0; worker < made.length; worker++) {
      if (made[worker] < calls.get(worker).size()) {
        isEnd = false;
        order.add(calls.get(worker).get(made[worker]++));
        merge(calls, made, order, differences);
        made[worker]--;
        order.remove(order.size() - 1);
      }
    }
    if (isEnd) {
      differences.add(difference(order));
    }
  }
}
