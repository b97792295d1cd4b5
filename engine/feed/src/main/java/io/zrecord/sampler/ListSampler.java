package io.zrecord.sampler;

/**
 * Gives the indices of a list in the order that another sampler gives to their places. Takes 8
 * bytes an index. Immutable.
 */
final class ListSampler extends Sampler {
  private final long[] indices;
  private final Sampler places;
  private final long bound;

  /** Keeps the list; the caller must not change it afterwards. */
  ListSampler(long[] indices, Sampler places) {
    Checks.inRange(
        "bound of the order", places.bound(), 0, indices.length, "order the places of the list");
    long most = -1;
    for (long index : indices) {
      Checks.inRange("index", index, 0, Checks.MAX_LENGTH - 1, "give indices of records");
      most = Math.max(most, index);
    }
    this.indices = indices;
    this.places = places;
    this.bound = most + 1;
  }

  @Override
  public long length() {
    return places.length();
  }

  @Override
  public long bound() {
    return bound;
  }

  @Override
  protected void fill(long epoch, long position, long stride, long[] target, int from, int count) {
    places.fill(epoch, position, stride, target, from, count);
    for (int i = from; i < from + count; i++) {
      target[i] = indices[(int) target[i]];
    }
  }

  @Override
  public String toString() {
    return "list(" + indices.length + " indices, " + places + ")";
  }
}
