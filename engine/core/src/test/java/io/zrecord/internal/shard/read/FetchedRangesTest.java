package io.zrecord.internal.shard.read;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class FetchedRangesTest {
  private static final int PIECE_BYTES = 64;

  @Test
  void bytesAreFoundInTheirPiece() {
    FetchedRanges ranges =
        new FetchedRanges(new long[] {10, 300}, new long[] {200, 310}, new int[] {5, 9}, 64);
    assertThat(ranges.find(10, 64)).isEqualTo(Place.of(5, 0));
    assertThat(ranges.find(74, 10)).isEqualTo(Place.of(6, 0));
    assertThat(ranges.find(300, 10)).isEqualTo(Place.of(9, 0));
    assertThat(ranges.find(9, 2)).isEqualTo(-1);
    assertThat(ranges.find(199, 2)).isEqualTo(-1);
    assertThat(ranges.find(305, 6)).isEqualTo(-1);
  }

  @Test
  void bytesAreFoundBehindRangesThatBeginLaterAndAreShorter() {
    FetchedRanges ranges = new FetchedRanges(
        new long[] {0, 10, 20, 500},
        new long[] {400, 30, 25, 600},
        new int[] {1, 20, 30, 40},
        PIECE_BYTES);
    assertThat(ranges.find(20, 5)).isEqualTo(Place.of(30, 0));
    assertThat(ranges.find(22, 8)).isEqualTo(Place.of(20, 12));
    assertThat(ranges.find(22, 9)).isEqualTo(Place.of(1, 22));
    assertThat(ranges.find(399, 1)).isEqualTo(Place.of(7, 15));
    assertThat(ranges.find(399, 2)).isEqualTo(-1);
    assertThat(ranges.find(450, 1)).isEqualTo(-1);
  }
}
