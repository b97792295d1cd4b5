package io.zrecord.testing;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Random;

/**
 * Says how much tests of chance, kills, faults and orders do, and with which seed.
 *
 * <p>{@code -Dzrecord.test.scale=…} multiplies every budget; 1 is the budget that a test names, and
 * the default is {@value #DEFAULT_SCALE}. {@code -Dzrecord.test.seed=…} replays a run; the default
 * is another seed in each process. A failed test prints both with the command that replays it. A
 * control that must show a damage does not take its budget from here: with less it could miss it.
 *
 * <p>Thread-safe.
 */
public final class Budget {
  private static final String SCALE = "zrecord.test.scale";
  private static final String SEED = "zrecord.test.seed";
  private static final double DEFAULT_SCALE = 0.2;

  /** What the build gives for a property that nobody set. */
  private static final String DEFAULT = "default";

  /** At this scale every order of calls is tried. */
  private static final double SCALE_OF_ALL_ORDERS = 2;

  private static final double CHOSEN_SCALE = chosenScale();
  private static final long CHOSEN_SEED = chosenSeed();

  private Budget() {}

  /** Returns how many trials to make, at least 1, of {@code count} at scale 1. */
  public static int of(int count) {
    return (int) Math.min(Math.max(1, Math.round(count * CHOSEN_SCALE)), Integer.MAX_VALUE);
  }

  /** Returns the share of all orders of calls, or of all calls that may fail, to try: (0, 1]. */
  public static double shareOfOrders() {
    return Math.min(1, CHOSEN_SCALE / SCALE_OF_ALL_ORDERS);
  }

  /** Returns the share of tests to run that repeat others in another place: (0, 1]. */
  public static double shareOfRepetitions() {
    return Math.min(1, 2 * CHOSEN_SCALE);
  }

  /** Returns the seed of this process. */
  public static long seed() {
    return CHOSEN_SEED;
  }

  /** Returns a new source of random numbers, which begins at {@link #seed}. */
  public static Random random() {
    return new Random(CHOSEN_SEED);
  }

  /** Returns the properties that replay this process, as arguments of a command. */
  public static String properties() {
    return "-D" + SEED + "=" + CHOSEN_SEED + " -D" + SCALE + "=" + CHOSEN_SCALE;
  }

  /**
   * Returns the command that replays a test of Maven's current module.
   *
   * @param test a class, or a class and a method after {@code #}
   */
  public static String replay(String test) {
    return "./mvnw test -pl " + module() + " -am -Dsurefire.failIfNoSpecifiedTests=false"
        + " -Dexcluded.tiers= -Dtest=" + test + " " + properties();
  }

  /** Returns the directory of Maven's current module, relative to that of {@code mvnw}. */
  public static String module() {
    Path module = Path.of(System.getProperty("basedir", "")).toAbsolutePath();
    Path root = module;
    while (root != null && !Files.exists(root.resolve("mvnw"))) {
      root = root.getParent();
    }
    return root == null ? module.toString() : root.relativize(module).toString();
  }

  private static double chosenScale() {
    String text = System.getProperty(SCALE, DEFAULT);
    double scale = text.equals(DEFAULT) ? DEFAULT_SCALE : Double.parseDouble(text);
    if (!(scale > 0 && scale <= 1000)) {
      throw new IllegalArgumentException(
          SCALE + " is " + text + ": give more than 0, at most 1000");
    }
    return scale;
  }

  private static long chosenSeed() {
    String text = System.getProperty(SEED, DEFAULT);
    return text.equals(DEFAULT) ? new SecureRandom().nextLong() : Long.parseLong(text);
  }
}
