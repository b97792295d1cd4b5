package io.zrecord.changes;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.read.IndexSet;
import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Records that two versions share are found in either as two lists have them. */
final class RenumberingTest {
  private static final int SPACE = 60;

  private final Random random = Budget.random();

  @Test
  void recordsAreWhereListsHaveThem() {
    for (int round = Budget.of(500); round > 0; round--) {
      IndexSet deleted = some(IntStream.range(0, SPACE).boxed().toList());
      IndexSet inserted = some(IntStream.range(0, SPACE).boxed().toList());
      List<Integer> before = outside(deleted);
      List<Integer> after = outside(inserted);
      int kept = Math.min(before.size(), after.size());
      Renumbering numbers = new Renumbering(deleted, inserted);
      IndexSet ordinals = some(IntStream.range(0, kept).boxed().toList());
      IndexSet then = at(before, ordinals);
      IndexSet now = at(after, ordinals);
      assertThat(numbers.toAfter(then)).isEqualTo(now);
      assertThat(numbers.toBefore(now)).isEqualTo(then);
    }
  }

  @Test
  void whereNothingIsInsertedOrDeletedIndicesStay() {
    Renumbering same = new Renumbering(IndexSet.empty(), IndexSet.empty());
    IndexSet some = IndexSet.of(0, 3, 4, Long.MAX_VALUE - 1);
    assertThat(same.toAfter(some)).isEqualTo(some);
    assertThat(same.toBefore(some)).isEqualTo(some);
  }

  /** Returns runs of some length, with gaps of some length. */
  private IndexSet some(List<Integer> of) {
    int switches = 1 + random.nextInt(8);
    boolean isIn = random.nextBoolean();
    List<Long> chosen = new ArrayList<>();
    for (int index : of) {
      isIn ^= random.nextInt(switches) == 0;
      if (isIn) {
        chosen.add((long) index);
      }
    }
    return IndexSet.of(chosen.stream().mapToLong(Long::longValue).toArray());
  }

  private static List<Integer> outside(IndexSet gaps) {
    return IntStream.range(0, 2 * SPACE)
        .filter(index -> !gaps.contains(index))
        .boxed()
        .toList();
  }

  private static IndexSet at(List<Integer> indices, IndexSet ordinals) {
    return IndexSet.of(IntStream.range(0, indices.size())
        .filter(ordinals::contains)
        .mapToLong(indices::get)
        .toArray());
  }
}
