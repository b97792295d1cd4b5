package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** What is out of range is refused with name, value, range and remedy. */
class SamplerArgumentsTest {
  @Test
  void argumentsOutOfRangeAreRefused() {
    refused(
        () -> Samplers.shuffle(-1, 0),
        "length is -1",
        "[0, 4611686018427387904]",
        "number of records");
    refused(() -> Samplers.random((1L << 62) + 1, 0), "length is");
    refused(() -> Samplers.sliding(10, 11, 1), "window is 11", "[1, 10]");
    refused(() -> Samplers.sliding(10, 4, 0), "stride is 0");
    refused(() -> Samplers.global(10, 11, 0), "batchSize is 11");
    refused(() -> Samplers.sequential(0, 5, 0), "step is 0");
    refused(() -> Samplers.sequential(-1, 5, 1), "from is -1");
    refused(() -> Samplers.blockShuffle(10, 0, 1, 0), "blockLength is 0");
    refused(() -> Samplers.blockShuffle(10, 5, -1, 0), "mixed is -1");
    refused(
        () -> Samplers.blockShuffle(new long[] {0, 5, 5}, 1, 0), "bound 2 is 5", "rise strictly");
    refused(() -> Samplers.blockShuffle(new long[] {1, 5}, 1, 0), "bounds begin with 1");
    refused(() -> Samplers.weighted(new double[] {1, -1}, 0), "weight 1 is -1.0");
    refused(() -> Samplers.weighted(new double[] {Double.NaN}, 0), "weight 0 is NaN");
    refused(() -> Samplers.weighted(new double[2], 0), "sum of the 2 weights is 0.0");
    refused(() -> Samplers.weighted(new double[0], 0), "sum of the 0 weights");
    refused(() -> Samplers.list(3, -4), "index is -4");
    refused(() -> Samplers.list(new long[2], Samplers.shuffle(3, 0)), "bound of the order is 3");
    refused(() -> Samplers.stratified(new int[3], 0, 0), "batchSize is 0");
    refused(
        () -> Samplers.mix(List.of(Samplers.sequential(3)), new double[2], 8, 0),
        "number of weights is 2");
    refused(
        () -> Samplers.mix(List.of(Samplers.sequential(0)), new double[] {1}, 8, 0), "is empty");
    refused(
        () -> Samplers.mixInProportion(List.of(Samplers.random(3, 0)), 8, 0),
        "length of source 0",
        "take()");
    refused(() -> Samplers.shuffle(5, 0).skip(6), "count to skip is 6");
    refused(() -> Samplers.shuffle(5, 0).take(6), "count to take is 6", "repeat() first");
    refused(() -> Samplers.shuffle(5, 0).repeat(0), "times is 0");
    refused(() -> Samplers.shuffle(1L << 61, 0).repeat(3), "times is 3");
    refused(() -> Samplers.shuffle(5, 0).share(2, 2, Remainder.DROP), "rank is 2", "[0, 1]");
    refused(() -> Samplers.shuffle(5, 0).share(0, 0, Remainder.DROP), "worldSize is 0");
    refused(() -> Samplers.shuffle(5, 0).withEpoch(-1), "epoch is -1");
    refused(() -> Samplers.shuffle(5, 0).indices(0, 0, 0, new long[1], 0, 1), "stride is 0");
  }

  @Test
  void positionsOutOfRangeAreRefused() {
    Sampler five = Samplers.shuffle(5, 0);
    long[] target = new long[10];
    outOfBounds(() -> five.index(0, 5));
    outOfBounds(() -> five.index(0, -1));
    outOfBounds(() -> five.index(0, Long.MIN_VALUE));
    outOfBounds(() -> five.index(-1, 0));
    outOfBounds(() -> five.indices(0, 2, target, 0, 4));
    outOfBounds(() -> five.indices(0, 1, 2, target, 0, 3));
    outOfBounds(() -> five.indices(0, 0, target, 8, 3));
    outOfBounds(() -> five.indices(0, 0, target, -1, 3));
    outOfBounds(() -> Samplers.shuffle(0, 0).index(0, 0));
    outOfBounds(() -> Samplers.shuffle(5, 0).positionOf(0, 5));
    outOfBounds(() -> Samplers.mixInProportion(List.of(five), 2, 0).sourceOf(5));
    assertThatThrownBy(() -> five.index(0, 5))
        .hasMessageContaining("shuffle(5, seed 0)")
        .hasMessageContaining("[0, 5)");
  }

  @Test
  void emptySpacesHaveNoPositions() {
    long[] none = new long[0];
    for (Sampler sampler : List.of(
        Samplers.sequential(0),
        Samplers.sliding(0, 1, 1),
        Samplers.sliding(0, 1, 1).onePass(),
        Samplers.random(0, 1),
        Samplers.global(0, 1, 1),
        Samplers.shuffle(0, 1),
        Samplers.blockShuffle(0, 10, 1, 1),
        Samplers.blockShuffle(new long[1], 1, 1),
        Samplers.stratified(new int[0], 8, 1),
        Samplers.balanced(new int[0], 8, 1),
        Samplers.list(),
        Samplers.mixInProportion(List.of(), 8, 1),
        Samplers.shuffle(0, 1).repeat(5),
        Samplers.shuffle(0, 1).repeat(),
        Samplers.shuffle(0, 1).share(0, 4, Remainder.PAD))) {
      assertThat(sampler.length()).as("%s", sampler).isZero();
      sampler.indices(0, 0, none, 0, 0);
    }
  }

  private static void refused(ThrowingCallable call, String... parts) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(parts);
  }

  private static void outOfBounds(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOf(IndexOutOfBoundsException.class);
  }
}
