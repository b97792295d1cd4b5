package io.zrecord.testing;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/**
 * Runs another program, and ends with the process that started it. A program that changes a table
 * until it is killed would otherwise go on, and fill the disk, after its test was killed.
 */
final class ChildProgram {
  static final int PARENT_ENDED = 113;
  private static final int LOOKS = 5;
  private static final long LOOK_MILLIS = 1000;

  private ChildProgram() {}

  /** Returns the arguments of {@code java} that run a program which ends with this process. */
  static List<String> command(String program) {
    return List.of(
        ChildProgram.class.getName(), String.valueOf(ProcessHandle.current().pid()), program);
  }

  /** Returns what the class path of the program must have. */
  static Path location() {
    try {
      return Path.of(
          ChildProgram.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * Runs a program.
   *
   * @param arguments the number of the process to end with, the name of the program's class, and
   *     the program's arguments
   */
  public static void main(String[] arguments) throws Throwable {
    endWith(Long.parseLong(arguments[0]));
    Class<?> program = Class.forName(arguments[1]);
    MethodHandle main = MethodHandles.privateLookupIn(program, MethodHandles.lookup())
        .findStatic(program, "main", MethodType.methodType(void.class, String[].class));
    main.invoke((Object) Arrays.copyOfRange(arguments, 2, arguments.length));
  }

  /** Ends this process when the other is missing: a process without free descriptors sees none. */
  private static void endWith(long parent) {
    Thread watch = new Thread(() -> {
      try {
        for (int missing = 0; missing < LOOKS; Thread.sleep(LOOK_MILLIS)) {
          missing = ProcessHandle.of(parent).isPresent() ? 0 : missing + 1;
        }
      } catch (InterruptedException e) {
        // Nobody interrupts this thread.
      }
      Runtime.getRuntime().halt(PARENT_ENDED);
    });
    watch.setDaemon(true);
    watch.start();
  }
}
