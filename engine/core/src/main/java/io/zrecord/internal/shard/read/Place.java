package io.zrecord.internal.shard.read;

/** Packs a place, which is a window and a position in it, in a long. Stateless. */
final class Place {
  private Place() {}

  static long of(int window, int position) {
    return (long) window << Integer.SIZE | position;
  }

  static int window(long place) {
    return (int) (place >>> Integer.SIZE);
  }

  static int position(long place) {
    return (int) place;
  }
}
