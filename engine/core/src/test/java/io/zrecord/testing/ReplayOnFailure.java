package io.zrecord.testing;

import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestWatcher;

/** Prints the command that replays a failed test. JUnit registers it for every test class. */
public final class ReplayOnFailure implements TestWatcher {
  @Override
  @SuppressWarnings("SystemOut")
  public void testFailed(ExtensionContext context, Throwable cause) {
    String type = context.getRequiredTestClass().getSimpleName();
    System.err.println(
        "replay: " + Budget.replay(type + "#" + context.getRequiredTestMethod().getName()));
  }
}
