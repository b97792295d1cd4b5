package io.zrecord.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.schema.Identity.Generation;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The arithmetic of identities, at the ends of 64 bits as well. */
final class IdentityTest {
  private static final UUID SERIES = new UUID(1, 2);
  private static final List<Long> NUMBERS = List.of(
      Long.MIN_VALUE,
      Long.MIN_VALUE + 1,
      Long.MIN_VALUE / 2,
      -7L,
      -2L,
      -1L,
      0L,
      1L,
      2L,
      7L,
      Long.MAX_VALUE / 2 + 1,
      Long.MAX_VALUE - 1,
      Long.MAX_VALUE);

  private static Identity identity(long start, long step, long next) {
    return new Identity(1, SERIES, Generation.ALWAYS, start, step, next);
  }

  private static BigInteger big(long value) {
    return BigInteger.valueOf(value);
  }

  private static boolean isReached(long start, long step, long next) {
    BigInteger[] steps = big(next).subtract(big(start)).divideAndRemainder(big(step));
    return steps[0].signum() >= 0 && steps[1].signum() == 0;
  }

  @Test
  void theNextNumberIsWholeStepsFromTheStart() {
    int allowed = 0;
    for (long start : NUMBERS) {
      for (long step : NUMBERS) {
        for (long next : NUMBERS) {
          if (step != 0 && isReached(start, step, next)) {
            assertThat(identity(start, step, next).next()).isEqualTo(next);
            allowed++;
          } else {
            assertThatThrownBy(() -> identity(start, step, next))
                .as("%s by %s to %s", start, step, next)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("identity of field 1");
          }
        }
      }
    }
    assertThat(allowed).isBetween(200, 1500);
  }

  @Test
  void noNumberIsReservedBeyond64Bits() {
    for (long start : NUMBERS) {
      for (long step : NUMBERS) {
        if (step == 0) {
          continue;
        }
        Identity identity = identity(start, step, start);
        BigInteger end = big(step > 0 ? Long.MAX_VALUE : Long.MIN_VALUE);
        BigInteger most = end.subtract(big(start)).divide(big(step));
        assertThat(big(identity.remaining())).isEqualTo(most.min(big(Long.MAX_VALUE)));
        long count = identity.remaining();
        assertThat(big(identity.reserved(count).next()))
            .isEqualTo(big(start).add(big(step).multiply(big(count))));
        if (count < Long.MAX_VALUE) {
          assertThatThrownBy(() -> identity.reserved(count + 1))
              .isInstanceOf(ArithmeticException.class);
        }
      }
    }
  }

  @Test
  void rangesFollowEachOtherWithoutACommonNumber() {
    for (long step : new long[] {1, 3, -1, -4}) {
      Identity identity = identity(5, step, 5);
      List<Long> numbers = new ArrayList<>();
      for (long count : new long[] {1, 3, 2}) {
        identity = identity.reserved(count);
        IdentityRange range = identity.last(count);
        for (long i = 0; i < count; i++) {
          numbers.add(range.valueAt(i));
        }
        assertThatThrownBy(() -> range.valueAt(count))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThat(numbers)
          .containsExactly(5L, 5 + step, 5 + 2 * step, 5 + 3 * step, 5 + 4 * step, 5 + 5 * step);
    }
  }

  @Test
  void anIdentityFollowsItselfAndWhatWasReservedBefore() {
    Identity first = Identity.always(1, 10, -2);
    Identity second = first.reserved(3);
    assertThat(second.follows(first)).isTrue();
    assertThat(first.follows(first)).isTrue();
    assertThat(first.follows(second)).isFalse();
    assertThat(second.renewed().follows(first)).isFalse();
    assertThat(Identity.byDefault(1, 10, -2).isSameSeries(first)).isFalse();
  }

  @Test
  void aRangeIsSentToOtherProcesses() throws Exception {
    IdentityRange range = Identity.always(3, 7, 2).reserved(4).last(4);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(range);
    }
    try (ObjectInputStream in =
        new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
      assertThat(in.readObject()).isEqualTo(range);
    }
  }
}
