package io.zrecord.testing;

import java.util.Arrays;
import java.util.Random;

/**
 * Ways in which the content of a file comes to be another. Places are anywhere, or near the
 * beginning, where small files are used.
 */
public enum FileDamage {
  BITS_FLIPPED,
  BYTES_OVERWRITTEN,
  RANGE_ZEROED,
  TRUNCATED,
  EXTENDED,
  BLOCKS_SWAPPED,
  REGION_DUPLICATED,
  CONTENT_OF_ANOTHER_FILE;

  private static final int MOST_FLIPS = 8;
  private static final int MOST_BITS_OF_LENGTH = 13;
  private static final int MOST_BITS_OF_EXTENSION = 19;

  /** Returns a kind of damage, at random. */
  public static FileDamage any(Random random) {
    return values()[random.nextInt(values().length)];
  }

  /**
   * Returns a damaged copy, which may by chance be equal to the content.
   *
   * @param content what the file contains
   * @param other what another file of the same dataset contains
   */
  public byte[] of(byte[] content, byte[] other, Random random) {
    if (content.length == 0) {
      return noise(1 + random.nextInt(64), random);
    }
    return switch (this) {
      case BITS_FLIPPED -> flipBits(content.clone(), random);
      case BYTES_OVERWRITTEN -> overwrite(content.clone(), random);
      case RANGE_ZEROED -> zero(content.clone(), random);
      case TRUNCATED -> Arrays.copyOf(content, place(content.length, random));
      case EXTENDED -> extend(content, random);
      case BLOCKS_SWAPPED -> swapBlocks(content.clone(), random);
      case REGION_DUPLICATED -> duplicate(content.clone(), random);
      case CONTENT_OF_ANOTHER_FILE -> graft(content, other, random);
    };
  }

  private static int place(int length, Random random) {
    double at = random.nextDouble();
    return (int) (length * (random.nextBoolean() ? at : at * at * at * at));
  }

  private static int runLength(int most, Random random) {
    return Math.min(most, 1 + random.nextInt(1 << random.nextInt(MOST_BITS_OF_LENGTH)));
  }

  private static byte[] noise(int length, Random random) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  private static byte[] flipBits(byte[] content, Random random) {
    int flips = random.nextBoolean() ? 1 : 1 + random.nextInt(MOST_FLIPS);
    for (int i = 0; i < flips; i++) {
      content[place(content.length, random)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
    }
    return content;
  }

  private static byte[] overwrite(byte[] content, Random random) {
    int at = place(content.length, random);
    byte[] run = noise(runLength(content.length - at, random), random);
    System.arraycopy(run, 0, content, at, run.length);
    return content;
  }

  private static byte[] zero(byte[] content, Random random) {
    int at = place(content.length, random);
    Arrays.fill(content, at, at + runLength(content.length - at, random), (byte) 0);
    return content;
  }

  private static byte[] extend(byte[] content, Random random) {
    int more = 1 + random.nextInt(1 << random.nextInt(MOST_BITS_OF_EXTENSION));
    byte[] longer = Arrays.copyOf(content, content.length + more);
    if (random.nextBoolean()) {
      System.arraycopy(noise(more, random), 0, longer, content.length, more);
    }
    return longer;
  }

  private static byte[] swapBlocks(byte[] content, Random random) {
    int block = 1 << (3 + random.nextInt(10));
    while (2 * block > content.length && block > 1) {
      block /= 2;
    }
    int blocks = content.length / block;
    int one = place(blocks, random) * block;
    int another = place(blocks, random) * block;
    byte[] kept = Arrays.copyOfRange(content, one, one + block);
    System.arraycopy(content, another, content, one, block);
    System.arraycopy(kept, 0, content, another, block);
    return content;
  }

  /**
   * Duplicates a region, often on boundaries of checksums, entries or sectors, as a medium does
   * that serves the wrong place.
   */
  private static byte[] duplicate(byte[] content, Random random) {
    int unit = new int[] {1, 4, 16, 512}[random.nextInt(4)];
    int from = place(content.length, random) / unit * unit;
    int to = place(content.length, random) / unit * unit;
    int length = runLength(content.length - Math.max(from, to), random);
    System.arraycopy(content, from, content, to, length);
    return content;
  }

  private static byte[] graft(byte[] content, byte[] other, Random random) {
    if (random.nextBoolean()) {
      return other.clone();
    }
    byte[] grafted = content.clone();
    int at = place(content.length, random);
    if (at < other.length) {
      int most = Math.min(content.length, other.length) - at;
      System.arraycopy(other, at, grafted, at, runLength(most, random));
    }
    return grafted;
  }
}
