package io.zrecord.testing;

import java.util.regex.Pattern;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Chooses by the seed which classes of tests run, where not all do. {@code -Dunit.share=…} is the
 * share of the classes, and the classes that {@code -Dunit.whole=…} finds by their names run in any
 * case. JUnit registers it for every test class.
 */
public final class ShareOfClasses implements ExecutionCondition {
  private static final String SHARE = "zrecord.test.unit.share";

  private final double share;
  private final Pattern whole;
  private final long seed;

  public ShareOfClasses() {
    this(
        Double.parseDouble(System.getProperty(SHARE, "1")),
        System.getProperty("zrecord.test.unit.whole", ""),
        Budget.seed());
  }

  /**
   * Chooses classes.
   *
   * @param share more than 0, at most 1
   * @param whole finds the simple names of classes that run in any case
   * @throws IllegalArgumentException if the share is none
   */
  ShareOfClasses(double share, String whole, long seed) {
    if (!(share > 0 && share <= 1)) {
      throw new IllegalArgumentException(
          "unit.share is " + share + ": give more than 0, at most 1");
    }
    this.share = share;
    this.whole = Pattern.compile(whole.isEmpty() ? "(?!)" : whole);
    this.seed = seed;
  }

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    return context
        .getTestClass()
        .filter(type -> context.getTestMethod().isEmpty() && !isChosen(type.getSimpleName()))
        .map(type -> ConditionEvaluationResult.disabled("not in this share of " + share))
        .orElseGet(() -> ConditionEvaluationResult.enabled("chosen"));
  }

  /** Tells whether a class is among those that run. */
  boolean isChosen(String simpleName) {
    if (share >= 1 || whole.matcher(simpleName).find()) {
      return true;
    }
    // The bits of a hash of similar names are similar; these multiplications mix them.
    long mixed = (seed * 31 + simpleName.hashCode()) * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 29)) * 0xBF58476D1CE4E5B9L;
    return (mixed >>> 40) < share * (1 << 24);
  }
}
