package io.zrecord.internal.shard.write;

/**
 * Collects the bits that tell which values of a field are present. Nothing is kept until the first
 * absent value. Belongs to one thread.
 */
final class ValidityWriter {
  private final SpooledTable words;
  private boolean hasAbsent;
  private long word;

  /** Creates a writer into an empty table of u64. */
  ValidityWriter(SpooledTable words) {
    this.words = words;
  }

  /** Adds the bit of the record after {@code before} other records. */
  void add(boolean isPresent, long before) {
    if (!hasAbsent) {
      if (isPresent) {
        return;
      }
      begin(before);
    }
    if (isPresent) {
      word |= 1L << before;
    }
    if ((before & (Long.SIZE - 1)) == Long.SIZE - 1) {
      words.putLong(word);
      word = 0;
    }
  }

  /** Ends the bits of {@code count} records. */
  void end(long count) {
    if (hasAbsent && (count & (Long.SIZE - 1)) != 0) {
      words.putLong(word);
      word = 0;
    }
  }

  /** Returns the bits after their end; empty if all values are present. */
  SpooledTable bits() {
    return words;
  }

  private void begin(long before) {
    hasAbsent = true;
    for (long i = 0; i < before / Long.SIZE; i++) {
      words.putLong(-1);
    }
    word = (1L << before) - 1;
  }
}
