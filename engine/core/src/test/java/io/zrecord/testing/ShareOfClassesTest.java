package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Which classes of tests run where not all do. */
final class ShareOfClassesTest {
  private static final List<String> NAMES =
      IntStream.range(0, 1000).mapToObj(i -> "Some" + i + "Test").toList();

  private static Set<String> chosen(double share, long seed) {
    ShareOfClasses classes = new ShareOfClasses(share, "Race|^Some7Test$", seed);
    return NAMES.stream().filter(classes::isChosen).collect(Collectors.toSet());
  }

  @Test
  void aSeedChoosesAboutTheShareAndTheNextSeedOthers() {
    Random random = Budget.random();
    Set<String> met = new TreeSet<>();
    for (int i = 0; i < 40; i++) {
      long seed = random.nextLong();
      Set<String> some = chosen(0.3, seed);
      assertThat(some).hasSizeBetween(200, 400).isEqualTo(chosen(0.3, seed));
      met.addAll(some);
    }
    assertThat(met).as("in the end each class runs").hasSize(NAMES.size());
    assertThat(chosen(1, 5)).hasSize(NAMES.size());
  }

  @Test
  void namedClassesRunInAnyCase() {
    ShareOfClasses none = new ShareOfClasses(1e-9, "Race|^Some7Test$", 5);
    assertThat(none.isChosen("DropRaceTest")).isTrue();
    assertThat(none.isChosen("Some7Test")).isTrue();
    assertThat(none.isChosen("Some77Test")).isFalse();
  }

  @Test
  void aShareOfNothingIsRefused() {
    for (double share : new double[] {0, -1, 2, Double.NaN}) {
      assertThatThrownBy(() -> new ShareOfClasses(share, "", 5))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("unit.share");
    }
  }
}
