package io.zrecord.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class JavaProcessTest {
  @Test
  void aProgramEndsWithTheProcessThatStartedItAlsoIfThatIsKilled() throws Exception {
    Process parent = JavaProcess.of(Parent.class).small().start();
    try (BufferedReader said = parent.inputReader()) {
      long number = Long.parseLong(said.readLine());
      ProcessHandle child = ProcessHandle.of(number).orElseThrow();
      assertThat(child.isAlive()).isTrue();

      JavaProcess.kill(parent);
      JavaProcess.requireKilled(parent);

      child.onExit().get(30, TimeUnit.SECONDS);
    }
  }

  @Test
  void anExceptionOfAProgramIsThatOfTheProgram() throws Exception {
    JavaProcess.Result result = JavaProcess.of(Failing.class).small().run("why");

    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.output())
        .contains(
            "Exception in thread \"main\" java.lang.NumberFormatException: For input string: \"why\"");
  }

  /** Starts a program that goes on for ever, and prints the program's number. */
  static final class Parent {
    public static void main(String[] arguments) throws Exception {
      System.out.println(JavaProcess.of(Endless.class).small().start().pid());
      Thread.sleep(Long.MAX_VALUE);
    }
  }

  /** Works until it is killed. */
  static final class Endless {
    public static void main(String[] arguments) throws InterruptedException {
      while (true) {
        Thread.sleep(1);
      }
    }
  }

  static final class Failing {
    public static void main(String[] arguments) {
      System.out.println(Integer.parseInt(arguments[0]));
    }
  }
}
