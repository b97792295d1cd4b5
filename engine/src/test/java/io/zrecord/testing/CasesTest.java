package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class CasesTest {
  @Test
  void fewCasesAreAllTried() {
    assertThat(Cases.before(0)).isEmpty();
    assertThat(Cases.before(1)).containsExactly(0);
    assertThat(Cases.between(3, 8)).containsExactly(3, 4, 5, 6, 7);
  }

  @Test
  void ofManyTheFirstTheLastAndAShareOfTheOthersAreTried() {
    long[] chosen = Cases.between(100, 10_100);
    assertThat(chosen)
        .hasSize((int) Math.max(8, Math.round(10_000 * Budget.shareOfOrders())))
        .isSorted()
        .doesNotHaveDuplicates()
        .startsWith(100)
        .endsWith(10_099);
  }
}
