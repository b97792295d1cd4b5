package io.zrecord.internal.io;

import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StoreLockedException;
import io.zrecord.internal.io.ProcessLock.Writer;
import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two class loaders of one process, as those of two applications of a server, have classes of their
 * own, which know nothing of each other. The locks of the system belong to both.
 */
final class ProcessLockTest {
  private static final Cleaner CLEANER = Cleaner.create();

  @TempDir
  Path directory;

  private URLClassLoader loader;
  private Class<?> other;

  @BeforeEach
  void loadAgain() throws ClassNotFoundException {
    URL[] classes = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .map(ProcessLockTest::url)
        .toArray(URL[]::new);
    loader = new URLClassLoader(classes, ClassLoader.getPlatformClassLoader());
    other = loader.loadClass(ProcessLock.class.getName());
    assertThat(other).isNotSameAs(ProcessLock.class);
  }

  @AfterEach
  void closeLoader() throws Exception {
    if (loader != null) {
      loader.close();
    }
  }

  private static URL url(String entry) {
    try {
      return new File(entry).toURI().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns what the class of the other loader says of the writer. */
  private String writerOfOther() throws ReflectiveOperationException {
    Method writer = other.getMethod("writer", Path.class);
    return String.valueOf(writer.invoke(null, directory));
  }

  @Test
  void readersOfAnotherLoaderKeepNoWriterOut() throws Exception {
    AtomicBoolean isOver = new AtomicBoolean();
    AtomicLong looks = new AtomicLong();
    Thread reader = new Thread(() -> {
      try {
        while (!isOver.get()) {
          writerOfOther();
          looks.incrementAndGet();
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    });
    reader.start();
    try {
      while (looks.get() == 0 && reader.isAlive()) {
        Thread.onSpinWait();
      }
      int count = Budget.of(2000);
      for (int i = 0; i < count; i++) {
        try (ProcessLock lock = ProcessLock.acquire(directory)) {
          lock.setReady();
        }
      }
    } finally {
      isOver.set(true);
      reader.join();
    }
    assertThat(looks.get()).isPositive();
    assertThat(writerOfOther()).isEqualTo("NONE");
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.NONE);
  }

  @Test
  void aWriterOfAnotherLoaderIsSeenAndKeepsItsLock() throws Exception {
    Object held = other.getMethod("acquire", Path.class).invoke(null, directory);
    assertThat(ProcessLock.writer(directory)).isNotEqualTo(Writer.NONE);
    other.getMethod("setReady").invoke(held);
    for (int i = 0; i < 3; i++) {
      assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
      assertThatThrownBy(() -> ProcessLock.acquire(directory))
          .isInstanceOf(StoreLockedException.class)
          .hasMessageContaining("another class loader");
    }
    other.getMethod("close").invoke(held);
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.NONE);
    ProcessLock.acquire(directory).close();
  }

  /** The writer of the other loader may still have the lock of a store that was deleted. */
  @Test
  void theLockOfAStoreThatWasDeletedIsNotThatOfTheNext() throws Exception {
    Object held = other.getMethod("acquire", Path.class).invoke(null, directory);
    other.getMethod("setReady").invoke(held);
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
    Files.delete(directory.resolve("lock"));
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.NONE);
    Files.createFile(directory.resolve("lock"));
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.NONE);
    try (ProcessLock lock = ProcessLock.acquire(directory)) {
      lock.setReady();
      other.getMethod("close").invoke(held);
      assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
      assertThat(takenByAnotherProcess()).isEqualTo("refused");
    }
  }

  /** Takes the lock that it is given the directory of, and says how that ended. */
  static final class Taking {
    private Taking() {}

    public static void main(String[] arguments) {
      try (ProcessLock lock = ProcessLock.acquire(Path.of(arguments[0]))) {
        lock.setReady();
        System.out.print("taken");
      } catch (StoreLockedException e) {
        System.out.print("refused");
      }
    }
  }

  /** Takes the lock as another process, and says how that ended. */
  private String takenByAnotherProcess() throws Exception {
    return JavaProcess.of(Taking.class).small().run(directory.toString()).output();
  }

  /** Collects what cannot be reached any more, such as a channel, which is closed then. */
  private static void collect() throws InterruptedException {
    for (int i = 0; i < 3; i++) {
      CountDownLatch isCollected = new CountDownLatch(1);
      CLEANER.register(new Object(), isCollected::countDown);
      do {
        System.gc();
      } while (!isCollected.await(10, TimeUnit.MILLISECONDS));
    }
  }

  @Test
  void aWriterKeepsItsMarksWhenGarbageIsCollected() throws Exception {
    Object held = other.getMethod("acquire", Path.class).invoke(null, directory);
    other.getMethod("setReady").invoke(held);
    collect();
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
    collect();
    assertThat(ProcessLock.writer(directory)).isEqualTo(Writer.READY);
    assertThat(takenByAnotherProcess()).isEqualTo("refused");
    other.getMethod("close").invoke(held);
    assertThat(takenByAnotherProcess()).isEqualTo("taken");
  }

  @Test
  void aWriterKeepsItsLockWhenAnApplicationEndsThatLookedForIt() throws Exception {
    try (ProcessLock lock = ProcessLock.acquire(directory)) {
      assertThat(writerOfOther()).isEqualTo("STARTING");
      assertThatThrownBy(() -> other.getMethod("acquire", Path.class).invoke(null, directory))
          .hasCauseInstanceOf(RuntimeException.class);
      loader.close();
      loader = null;
      other = null;
      collect();
      assertThat(takenByAnotherProcess()).isEqualTo("refused");
      lock.setReady();
    }
    assertThat(takenByAnotherProcess()).isEqualTo("taken");
  }

  @Test
  void aLockThatNobodyClosesIsKept() throws Exception {
    ProcessLock.acquire(directory);
    collect();
    assertThat(takenByAnotherProcess()).isEqualTo("refused");
    assertThatThrownBy(() -> ProcessLock.acquire(directory))
        .isInstanceOf(StoreLockedException.class)
        .hasMessageContaining("this process");
  }

  /** A look that ends after a writer came must not take its lock. */
  @Test
  void looksOfAnotherLoaderNeverTakeTheLock() throws Exception {
    ProcessLock.acquire(directory).close();
    AtomicBoolean isOver = new AtomicBoolean();
    Thread reader = new Thread(() -> {
      try {
        while (!isOver.get()) {
          writerOfOther();
        }
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    });
    int lost = 0;
    Process process = JavaProcess.of(Probing.class).small().start(directory.toString());
    BufferedReader answers = process.inputReader();
    reader.start();
    try {
      int count = Budget.of(1000);
      for (int i = 0; i < count && lost == 0; i++) {
        try (ProcessLock lock = ProcessLock.acquire(directory)) {
          lock.setReady();
          process.getOutputStream().write('?');
          process.getOutputStream().flush();
          lost += answers.readLine().equals("locked") ? 0 : 1;
        }
      }
    } finally {
      isOver.set(true);
      reader.join();
      process.destroyForcibly();
    }
    assertThat(lost).isZero();
  }

  /** Says whether somebody has locked the writer's byte, each time it is asked. */
  static final class Probing {
    private Probing() {}

    public static void main(String[] arguments) throws IOException {
      try (FileChannel channel = FileChannel.open(Path.of(arguments[0], "lock"), READ, WRITE)) {
        while (System.in.read() == '?') {
          try (FileLock lock = channel.tryLock(0, 1, false)) {
            System.out.println(lock == null ? "locked" : "free");
          }
        }
      }
    }
  }
}
