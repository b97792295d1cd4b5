package io.zrecord.internal.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.io.ProcessLock.Writer;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A reader that is stopped while it looks for a writer keeps no writer out. */
final class StoppedReaderTest {
  private static final int STOPS = Budget.of(200);

  @TempDir
  Path directory;

  /** Looks for a writer without end. */
  static final class Looking {
    public static void main(String[] arguments) {
      Path path = Path.of(arguments[0]);
      for (long looks = 0; ; looks++) {
        ProcessLock.writer(path);
        if (looks == 1_000) {
          System.out.println("looking");
        }
      }
    }
  }

  private static void signal(String name, Process process) throws Exception {
    new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid()))
        .start()
        .waitFor();
  }

  @Test
  void aReaderThatIsStoppedWhileItLooksKeepsNoWriterOut() throws Exception {
    ProcessLock.acquire(directory).close();
    Process looking = JavaProcess.of(Looking.class).small().start(directory.toString());
    try {
      assertThat(looking.inputReader().readLine()).isEqualTo("looking");
      for (int i = 0; i < STOPS; i++) {
        signal("STOP", looking);
        try (ProcessLock lock = ProcessLock.acquire(directory)) {
          lock.setReady();
          assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
        }
        signal("CONT", looking);
      }
    } finally {
      looking.destroyForcibly();
    }
  }
}
