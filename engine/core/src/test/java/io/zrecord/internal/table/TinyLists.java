package io.zrecord.internal.table;

/**
 * Lets writers put few shards and lists into one file, so that small tables have lists, lists of
 * lists and replaced shards. Tests of tables do so in one thread, and its workers'.
 */
public final class TinyLists {
  /** Limits at which a table of two shards has all of them. */
  public static final ListLimits LIMITS = new ListLimits(1, 2, 1, 100);

  /** A test. */
  public interface Body {
    void run() throws Exception;
  }

  private TinyLists() {}

  /** Runs a test whose writers keep to {@link #LIMITS}. */
  public static void run(Body test) throws Exception {
    run(LIMITS, test);
  }

  /** Runs a test whose writers keep to some limits. */
  public static void run(ListLimits limits, Body test) throws Exception {
    ListLimits.choose(limits);
    try {
      test.run();
    } finally {
      ListLimits.choose(ListLimits.USUAL);
    }
  }
}
