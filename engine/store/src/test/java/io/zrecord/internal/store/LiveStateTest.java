package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.io.ProcessLock;
import io.zrecord.internal.store.verify.SampleStore;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.store.StoreReader;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A file {@code live} that is withdrawn, and the one that takes its place. */
final class LiveStateTest {
  @TempDir
  Path directory;

  private Path path;
  private MutableFiles files;

  @BeforeEach
  void createStore() {
    path = SampleStore.closed(directory.resolve("store"));
    files = new LocalMutableFiles(path);
  }

  private StoreMeta meta() {
    return StoreMeta.read("meta.json", files.read("meta.json", 1 << 20));
  }

  private LiveState recover() {
    return recover(WriterToken.take(files));
  }

  private LiveState recover(WriterToken writer) {
    UUID id = meta().shard().id();
    return LiveState.beginRecovery(files, id, writer, LiveState.writerBefore(files, id, writer));
  }

  private static void requireWhole(StoreReader reader) {
    assertThat(reader.length()).isEqualTo(SampleStore.COUNT);
  }

  private static void requireLast(StoreReader reader) {
    try (Batch batch = reader.gather(new long[] {SampleStore.COUNT - 1}, "text")) {
      assertThat(batch.count()).isEqualTo(1);
    }
  }

  @Test
  void anAttachedReaderKeepsItsLengthUntilTheRepairIsOver() {
    try (StoreReader reader = StoreReader.open(path)) {
      LiveState.beginRepair(
          files, meta().shard().id(), WriterToken.take(files), WriterBefore.CLOSED);
      requireWhole(reader);
      // Two writers that are killed while they recover the store.
      recover();
      requireWhole(reader);
      LiveState live = recover();
      requireWhole(reader);
      live.endRecovery(SampleStore.COUNT, meta().sequence());
      requireWhole(reader);
      requireLast(reader);
    }
  }

  @Test
  void aReaderThatIsOpenedDuringARepairWaitsForItsEnd() throws Exception {
    ProcessLock lock = ProcessLock.acquire(path);
    FutureTask<StoreReader> opening = new FutureTask<>(() -> StoreReader.open(path));
    Thread thread = new Thread(opening, "opening");
    try {
      LiveState.beginRepair(
          files, meta().shard().id(), WriterToken.take(files), WriterBefore.CLOSED);
      thread.start();
      // It has mapped the file that is withdrawn when it waits.
      while (thread.getState() != Thread.State.TIMED_WAITING && !opening.isDone()) {
        Thread.onSpinWait();
      }
      WriterToken writer = WriterToken.take(files);
      recover(writer).endRecovery(SampleStore.COUNT, meta().sequence());
      LiveState.close(files, meta().shard().id(), writer);
    } finally {
      lock.close();
    }
    try (StoreReader reader = opening.get()) {
      requireWhole(reader);
      requireLast(reader);
    }
  }

  @Test
  void onlyARepairAcceptsThatCommitsAreLost() {
    recover().endRecovery(SampleStore.COUNT, meta().sequence() + 10);
    requireLossSeen();
    // A repair that is killed after its first step, and a writer that is tried twice.
    LiveState.beginRepair(files, meta().shard().id(), WriterToken.take(files), WriterBefore.CLOSED);
    requireLossSeen();
    requireLossSeen();
    assertThat(
            DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true).isDone())
        .isTrue();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      assertThat(store.length()).isEqualTo(SampleStore.COUNT);
    }
    assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound()).isTrue();
  }

  private void requireLossSeen() {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    assertThat(findings)
        .hasSize(1)
        .allMatch(finding -> finding.problem().contains("the others are lost"));
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()).close())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("or repair it");
  }

  @ParameterizedTest
  @CsvSource({"journal, 60", "live, 40"})
  void aLaterFormatIsRefusedAndNotRepaired(String name, int checksumAt) throws IOException {
    byte[] content = Files.readAllBytes(path.resolve(name));
    ByteBuffer header = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    header.putInt(8, 3).putInt(checksumAt, Crc32c.of(content, 0, checksumAt));
    Files.write(path.resolve(name), content);
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()).close())
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(name);
    assertThatThrownBy(() -> StoreReader.open(path).close())
        .isInstanceOf(UnsupportedFormatException.class);
    assertThatThrownBy(() -> DatasetCheck.of(path.toString()).run(finding -> {}))
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessageContaining(name);
    assertThatThrownBy(() -> DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true))
        .isInstanceOf(UnsupportedFormatException.class);
    assertThat(Files.readAllBytes(path.resolve(name))).isEqualTo(content);
  }
}
