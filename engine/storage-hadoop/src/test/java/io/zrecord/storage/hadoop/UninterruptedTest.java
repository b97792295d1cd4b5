package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class UninterruptedTest {
  @Test
  void anInterruptNeitherEndsACallNorIsLost() throws IOException {
    Thread caller = Thread.currentThread();
    caller.interrupt();
    String result = Uninterrupted.call(() -> {
      // The caller is told of its interrupt while it waits.
      while (caller.isInterrupted()) {
        Thread.onSpinWait();
      }
      return "whole";
    });
    assertThat(Thread.interrupted()).isTrue();
    assertThat(result).isEqualTo("whole");
  }

  @Test
  void aFailureIsThatOfTheCall() {
    IOException known = new FileNotFoundException("gone");
    assertThatThrownBy(() -> Uninterrupted.call(() -> {
          throw known;
        }))
        .isSameAs(known);
    RuntimeException unchecked = new IllegalStateException("odd");
    assertThatThrownBy(() -> Uninterrupted.call(() -> {
          throw unchecked;
        }))
        .isSameAs(unchecked);
  }
}
