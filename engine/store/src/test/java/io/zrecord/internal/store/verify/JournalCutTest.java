package io.zrecord.internal.store.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.internal.io.MutableFiles;
import io.zrecord.internal.store.repair.StoreRepair;
import io.zrecord.repair.DamagedValues;
import io.zrecord.repair.DatasetRepair;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.verify.Damage;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A repair that is killed between the record that it puts in the place of a lost one and the cut
 * after that record.
 */
final class JournalCutTest {
  private static final int HEADER_BYTES = 64;

  /** Of a record that names one chunk and no entries, as that of the repair does. */
  private static final int RECORD_BYTES = 80;

  @TempDir
  Path directory;

  private static void commits(RecordStore store) {
    // Longer than what a record carries, so that the record names the chunk only.
    store.append(store.newValues().set("text", "never seen".repeat(10_000)));
    store.delete(store.pendingLength() - 1);
    store.delete(store.pendingLength() - 1);
    store.commit();
    store.update(3, store.newValues().set("text", "changed"));
    store.commit();
    store.update(5, store.newValues().set("text", "changed"));
    store.commit();
  }

  private static Object invoke(Object target, Method method, Object[] given) throws Throwable {
    try {
      return method.invoke(target, given);
    } catch (InvocationTargetException e) {
      throw Objects.requireNonNull(e.getCause());
    }
  }

  private static MutableFile killedAtCut(MutableFile file) {
    return (MutableFile) Proxy.newProxyInstance(
        MutableFile.class.getClassLoader(),
        new Class<?>[] {MutableFile.class},
        (proxy, method, given) -> {
          if (method.getName().equals("setLength")) {
            throw new IllegalStateException("killed");
          }
          return invoke(file, method, given);
        });
  }

  private static MutableFiles killedAtCut(MutableFiles files) {
    return (MutableFiles) Proxy.newProxyInstance(
        MutableFiles.class.getClassLoader(),
        new Class<?>[] {MutableFiles.class},
        (proxy, method, given) -> {
          Object result = invoke(files, method, given);
          boolean isJournal = method.getName().equals("open") && given[0].equals("journal");
          return isJournal ? killedAtCut((MutableFile) result) : result;
        });
  }

  @Test
  void laterCommitsDoNotCountWithoutTheLostOne() throws IOException {
    Path path = SampleStore.killedBeforeTables(directory, JournalCutTest::commits);
    byte[] journal = Files.readAllBytes(path.resolve("journal"));
    assertThat(ByteBuffer.wrap(journal).order(ByteOrder.LITTLE_ENDIAN).getInt(HEADER_BYTES + 4))
        .isEqualTo(RECORD_BYTES);
    Damage.flip(path.resolve("journal"), HEADER_BYTES + 50);
    StoreRepair repair =
        new StoreRepair(killedAtCut(new LocalMutableFiles(path)), DamagedValues.KEEP, moved -> {});
    assertThatThrownBy(() -> repair.run(finding -> {}, plan -> true)).hasMessage("killed");
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("was written when it was safe");
    assertThat(
            DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true).isDone())
        .isTrue();
    assertThat(DatasetCheck.of(path.toString()).run(finding -> {}).isSound()).isTrue();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      assertThat(store.length()).isEqualTo(SampleStore.COUNT);
    }
    assertThat(SampleStore.text(path, 3)).isEqualTo("text 3");
    assertThat(SampleStore.text(path, 5)).isEqualTo("text 5");
  }
}
