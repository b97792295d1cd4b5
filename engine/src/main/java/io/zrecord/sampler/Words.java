package io.zrecord.sampler;

/**
 * Random words of 64 bits by position (SAMPLERS.md section 3). Immutable.
 *
 * @param stream the key that both others are made of
 * @param base the counter of position 0
 * @param key added in the middle, so that streams whose counters overlap differ
 */
record Words(long stream, long base, long key) {
  static Words of(long stream) {
    return new Words(stream, Mixing.expand(stream, 0), Mixing.expand(stream, 1));
  }

  /** The stream that is used when the words of this one were rejected {@code attempt} times. */
  Words again(int attempt) {
    return of(Mixing.absorb(stream, attempt));
  }

  /** The word at a position. */
  long at(long position) {
    return Mixing.word(base + position * Mixing.GAMMA, key);
  }

  /**
   * Writes the words at {@code position, position + stride, …} to {@code target[from]} and on.
   *
   * @param count at most {@link Lanes#CHUNK}
   */
  void fill(long position, long stride, long[] target, int from, int count) {
    if (count >= Lanes.MIN) {
      Lanes.words(base + position * Mixing.GAMMA, stride, key, target, from, count);
      return;
    }
    for (int i = 0; i < count; i++) {
      target[from + i] = at(position + i * stride);
    }
  }
}
