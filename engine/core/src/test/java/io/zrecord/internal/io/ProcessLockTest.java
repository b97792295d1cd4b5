package io.zrecord.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StoreLockedException;
import io.zrecord.internal.io.ProcessLock.Writer;
import io.zrecord.testing.Budget;
import java.io.File;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
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
    loader.close();
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
}
