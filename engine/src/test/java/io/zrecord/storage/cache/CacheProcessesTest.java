package io.zrecord.storage.cache;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.testing.Budget;
import io.zrecord.testing.JavaProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Processes that share a cache, are killed, and lose its directory. */
final class CacheProcessesTest {
  private static final long BOUND = 16L << 20;

  @TempDir
  Path parent;

  private final List<Process> started = new ArrayList<>();

  @AfterEach
  void endProcesses() throws InterruptedException {
    for (Process process : started) {
      process.destroyForcibly().waitFor();
    }
  }

  private Process start(Path directory, int number, int reads) throws IOException {
    Process process = JavaProcess.of(CacheReader.class)
        .small()
        .start(
            directory.toString(),
            Long.toString(BOUND),
            Long.toString(Budget.seed() + number),
            Integer.toString(reads));
    started.add(process);
    return process;
  }

  @Test
  void whoeverIsKilledWhileFillingLeavesNoWrongByte() throws Exception {
    int kills = Budget.of(10);
    Random random = Budget.random();
    Path directory = parent.resolve("killed");
    long hits = 0;
    long unfinished = 0;
    for (int kill = 0; kill < kills; kill++) {
      if (random.nextInt(2) == 0) {
        CacheContent.clear(Files.createDirectories(directory));
      }
      Process process = start(directory, kill, Integer.MAX_VALUE);
      assertThat(process.getInputStream().read()).as("it began to read").isEqualTo('b');
      while (TestCaches.blocks(directory).isEmpty()) {
        assertThat(process.isAlive()).isTrue();
        Thread.onSpinWait();
      }
      JavaProcess.killAfter(process, random.nextLong(100_000_000));
      JavaProcess.requireKilled(process);
      unfinished += Files.exists(directory) ? CacheContent.of(directory).unfinishedFiles() : 0;
      BlockCache cache = TestCaches.at(directory, 1L << 30);
      hits += CacheReader.readAll(cache);
      assertThat(cache.counters().failures()).as("kill %s", kill).isZero();
    }
    System.out.println(kills + " kills: " + hits + " blocks read that dead processes had written, " + unfinished + " unfinished files met");
    assertThat(hits).isPositive();
  }

  @Test
  void twoProcessesFillAndEvictAtOnce() throws Exception {
    Path directory = parent.resolve("shared");
    for (int number = 0; number < 2; number++) {
      start(directory, number, 300);
    }
    for (Process process : started) {
      String said = said(process);
      assertThat(process.waitFor()).as("%s", said).isZero();
      assertThat(said).contains(" 0 failures");
    }
    long unseenBytes = BOUND / 64 + BlockKey.BLOCK_BYTES;
    assertThat(TestCaches.bytes(directory)).isLessThanOrEqualTo(BOUND + unseenBytes);
    CacheReader.readAll(TestCaches.at(directory, BOUND));
    assertThat(TestCaches.bytes(directory)).as("by one process").isLessThanOrEqualTo(BOUND);
  }

  @Test
  void theDirectoryMayBeDeletedAtAnyTime() throws Exception {
    Path directory = parent.resolve("deleted");
    Process process = start(directory, 0, Integer.MAX_VALUE);
    for (int deletions = 0; deletions < 1 + Budget.of(100); ) {
      assertThat(process.isAlive()).isTrue();
      deletions += delete(directory) ? 1 : 0;
    }
    process.getOutputStream().write('e');
    process.getOutputStream().flush();
    String said = said(process);
    assertThat(process.waitFor()).as("%s", said).isZero();
    System.out.println(said);
  }

  private static String said(Process process) throws IOException {
    return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
  }

  /** Deletes a directory that another process writes. Returns whether it is gone. */
  private static boolean delete(Path directory) {
    try (var files = Files.newDirectoryStream(directory)) {
      for (Path file : files) {
        Files.deleteIfExists(file);
      }
      Files.delete(directory);
      return true;
    } catch (IOException e) {
      return false;
    }
  }
}
