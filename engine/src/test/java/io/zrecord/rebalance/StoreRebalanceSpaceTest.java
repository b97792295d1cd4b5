package io.zrecord.rebalance;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.DiskFullException;
import org.junit.jupiter.api.Test;

/** What somebody is told whose file system has no room for a second copy. */
class StoreRebalanceSpaceTest {
  @Test
  void tooLittleSpaceSaysHowMuchIsNeededAndWhere() {
    StoreRebalance.requireSpace("/data/online", 100, 100);
    assertThatThrownBy(() -> StoreRebalance.requireSpace("/data/online", 5000, 4000))
        .isInstanceOf(DiskFullException.class)
        .hasMessageContainingAll("/data/online", "5000", "only 4000", "at least 1000");
  }
}
