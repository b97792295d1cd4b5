package io.zrecord.internal.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class VerifiedBitsTest {
  @Test
  void bitsThatAreSetAreSetAndNoOthers() {
    long seed = Budget.seed();
    Random random = new Random(seed);
    int count = 200_001;
    VerifiedBits bits = new VerifiedBits(count);
    BitSet expected = new BitSet(count);
    for (int i = 0; i < 50_000; i++) {
      int bit = random.nextInt(count);
      bits.set(bit);
      expected.set(bit);
    }
    for (int bit = 0; bit < count; bit++) {
      assertThat(bits.isSet(bit)).as("bit %s, seed %s", bit, seed).isEqualTo(expected.get(bit));
    }
  }

  @Test
  void manyThreadsFillAllPages() throws InterruptedException {
    int count = 3 * 65_536 + 17;
    VerifiedBits bits = new VerifiedBits(count);
    List<Thread> threads = new ArrayList<>();
    for (int t = 0; t < 4; t++) {
      int first = t;
      threads.add(new Thread(() -> {
        for (int bit = 0; bit < count; bit++) {
          bits.set((bit * 7L + first * 1000L) % count);
        }
      }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    for (int bit = 0; bit < count; bit++) {
      assertThat(bits.isSet(bit)).isTrue();
    }
    bits.set(count - 1);
    assertThat(bits.isSet(count - 1)).isTrue();
  }

  @Test
  void noBitsNeedNoPages() {
    assertThat(new VerifiedBits(0)).isNotNull();
  }
}
