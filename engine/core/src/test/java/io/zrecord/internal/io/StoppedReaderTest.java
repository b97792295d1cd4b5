package io.zrecord.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.errors.StoreLockedException;
import io.zrecord.internal.io.ProcessLock.Writer;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A reader that is stopped while it looks for a writer keeps no writer out. */
final class StoppedReaderTest {
  private static final int STOPS = Budget.of(200);

  /** A control ends at the first stop that keeps the writer out, of about two. */
  private static final int CONTROL_STOPS = 1_000;

  @TempDir
  Path directory;

  /** How a reader finds out whether there is a writer. */
  enum Look {
    MARK_BY_MARK,
    AT_THE_WRITERS_BYTE,
    AT_ALL_MARKS
  }

  /** Looks for a writer without end. */
  static final class Looking {
    private Looking() {}

    public static void main(String[] arguments) throws IOException {
      Path path = Path.of(arguments[0]);
      Look look = Look.valueOf(arguments[1]);
      for (long looks = 0; ; looks++) {
        switch (look) {
          case MARK_BY_MARK -> ProcessLock.writer(path);
          case AT_THE_WRITERS_BYTE -> lock(path.resolve("lock"), 0, 1);
          case AT_ALL_MARKS -> lock(path.resolve("lock"), 2, 16);
        }
        if (looks == 1_000) {
          System.out.println("looking");
        }
      }
    }

    private static void lock(Path file, long position, long size) throws IOException {
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
          FileLock lock = channel.tryLock(position, size, true)) {
        // The signal may come a moment after the writer.
        if (lock != null) {
          lock.release();
        }
      }
    }
  }

  private static void signal(String name, Process process) throws Exception {
    new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
        .start()
        .waitFor();
  }

  /** Tells whether a reader that was stopped at some moment kept the writer out. */
  private boolean isKeptOut(Look look, int stops) throws Exception {
    ProcessLock.acquire(directory).close();
    Process looking =
        JavaProcess.of(Looking.class).small().start(directory.toString(), look.name());
    try {
      assertThat(looking.inputReader().readLine()).isEqualTo("looking");
      for (int i = 0; i < stops; i++) {
        signal("STOP", looking);
        try (ProcessLock lock = ProcessLock.acquire(directory)) {
          lock.setReady();
          assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
        } catch (StoreLockedException e) {
          return true;
        }
        signal("CONT", looking);
      }
      assertThat(looking.isAlive()).isTrue();
      return false;
    } finally {
      looking.destroyForcibly();
    }
  }

  @Test
  void aReaderThatIsStoppedWhileItLooksKeepsNoWriterOut() throws Exception {
    assertThat(isKeptOut(Look.MARK_BY_MARK, STOPS)).isFalse();
  }

  @ParameterizedTest
  @EnumSource(names = {"AT_THE_WRITERS_BYTE", "AT_ALL_MARKS"})
  void aReaderThatLocksMoreAtOnceKeepsTheWriterOut(Look look) throws Exception {
    assertThat(isKeptOut(look, CONTROL_STOPS)).isTrue();
  }
}
