package io.zrecord.internal.shard.read;

import java.util.Arrays;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The shards that a reader has used, by their source. Of a table of many shards, takes memory for
 * these only. Belongs to one thread.
 */
final class ShardParts {
  /** Sources up to which an array has a place for each, which is found without a search. */
  private static final int FEW_SOURCES = 1024;

  private static final int INITIAL_CAPACITY = 16;

  /** 2³² divided by the golden ratio: spreads sources that follow each other. */
  private static final int SPREAD = 0x9E3779B9;

  private final boolean isDirect;
  private int[] sources;
  private @Nullable ShardPart[] parts;
  private int shift = Integer.numberOfLeadingZeros(INITIAL_CAPACITY - 1);
  private int count;

  /**
   * Makes an empty set.
   *
   * @param most number of the sources that there are, which begin with 0
   */
  ShardParts(long most) {
    this.isDirect = most <= FEW_SOURCES;
    this.sources = new int[isDirect ? 0 : INITIAL_CAPACITY];
    this.parts = new ShardPart[isDirect ? (int) most : INITIAL_CAPACITY];
  }

  int count() {
    return count;
  }

  /** Returns the part of a source; null if there is none. */
  @Nullable
  ShardPart get(int source) {
    return parts[isDirect ? source : placeOf(source)];
  }

  private int placeOf(int source) {
    int at = source * SPREAD >>> shift;
    while (parts[at] != null && sources[at] != source) {
      at = (at + 1) & (parts.length - 1);
    }
    return at;
  }

  /** Adds the part of a source that has none. */
  void add(int source, ShardPart part) {
    count++;
    if (isDirect) {
      parts[source] = part;
      return;
    }
    if (2 * count > parts.length) {
      grow();
    }
    int at = placeOf(source);
    sources[at] = source;
    parts[at] = part;
  }

  private void grow() {
    int[] oldSources = sources;
    @Nullable ShardPart[] oldParts = parts;
    sources = new int[2 * oldParts.length];
    parts = new ShardPart[2 * oldParts.length];
    shift--;
    for (int i = 0; i < oldParts.length; i++) {
      if (oldParts[i] != null) {
        int at = placeOf(oldSources[i]);
        sources[at] = oldSources[i];
        parts[at] = oldParts[i];
      }
    }
  }

  void clear() {
    Arrays.fill(parts, null);
    count = 0;
  }

  void forEach(Consumer<ShardPart> visitor) {
    for (ShardPart part : parts) {
      if (part != null) {
        visitor.accept(part);
      }
    }
  }
}
