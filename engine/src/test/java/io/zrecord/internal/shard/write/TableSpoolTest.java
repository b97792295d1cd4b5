package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.StorageException;
import io.zrecord.testing.Budget;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TableSpoolTest {
  private static final String NAME = "shard/x/x.spool";
  private static final int BOUND = 64 << 10;

  private final MemoryStorage storage = new MemoryStorage();

  /** Returns the ints of a table, read in pieces of changing lengths. */
  private static List<Integer> ints(SpooledTable table, Random random) {
    byte[] bytes = new byte[(int) table.lengthBytes()];
    SpooledTable.Reader reader = table.reader();
    for (int done = 0; done < bytes.length; ) {
      int step = Math.min(bytes.length - done, random.nextInt(5000));
      reader.read(bytes, done, step);
      done += step;
    }
    List<Integer> ints = new ArrayList<>();
    ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      ints.add(buffer.getInt());
    }
    return ints;
  }

  @Test
  void tablesBeyondTheBoundAreReadBackFromTheFile() {
    Random random = Budget.random();
    List<List<Integer>> expected = new ArrayList<>();
    try (TableSpool spool = new TableSpool(storage, NAME, BOUND, 5)) {
      List<SpooledTable> tables = new ArrayList<>();
      for (int i = 0; i < 5; i++) {
        tables.add(spool.table());
        expected.add(new ArrayList<>());
      }
      for (int i = 0; i < 200_000; i++) {
        int table = random.nextInt(20) < 16 ? 0 : 1 + random.nextInt(3);
        int value = random.nextInt();
        tables.get(table).putInt(value);
        expected.get(table).add(value);
        assertThat(spool.memoryBytes()).isLessThanOrEqualTo(BOUND);
      }
      assertThat(storage.names()).containsExactly(NAME);
      spool.complete();
      for (int i = 0; i < 5; i++) {
        assertThat(tables.get(i).lengthBytes()).isEqualTo(4L * expected.get(i).size());
        assertThat(ints(tables.get(i), random)).isEqualTo(expected.get(i));
      }
      SpooledTable.Reader reader = tables.get(0).reader();
      reader.read(
          new byte[(int) tables.get(0).lengthBytes()], 0, 4 * expected.get(0).size());
      assertThatThrownBy(() -> reader.read(new byte[1], 0, 1))
          .isInstanceOf(IllegalStateException.class);
    }
    assertThat(storage.names()).isEmpty();
    assertThat(storage.openFileCount()).isZero();
  }

  @Test
  void tablesWithinTheBoundNeedNoFile() {
    try (TableSpool spool = new TableSpool(storage, NAME, BOUND, 2)) {
      SpooledTable entries = spool.table();
      SpooledTable words = spool.table();
      for (int i = 0; i < 1000; i++) {
        entries.putLong(i);
        entries.putLong(-i);
        words.putLong(i);
      }
      spool.complete();
      assertThat(ints(entries, Budget.random())).hasSize(4000).startsWith(0, 0, 0, 0, 1, 0, -1, -1);
      assertThat(ints(words, Budget.random())).hasSize(2000).startsWith(0, 0, 1, 0, 2, 0);
    }
    assertThat(storage.log()).isEmpty();
  }

  @Test
  void theFileIsDeletedIfTheWriterGivesUp() {
    try (TableSpool spool = new TableSpool(storage, NAME, 1024, 1)) {
      SpooledTable table = spool.table();
      for (int i = 0; i < 10_000; i++) {
        table.putInt(i);
      }
      assertThat(storage.names()).containsExactly(NAME);
    }
    assertThat(storage.names()).isEmpty();
    assertThat(storage.openFileCount()).isZero();
  }

  @Test
  void aFullDiskIsReported() {
    storage.failingFrom(1, 1);
    try (TableSpool spool = new TableSpool(storage, NAME, 1024, 1)) {
      SpooledTable table = spool.table();
      assertThatThrownBy(() -> {
            for (int i = 0; i < 10_000; i++) {
              table.putInt(i);
            }
          })
          .isInstanceOf(StorageException.class);
    }
    assertThat(storage.names()).isEmpty();
  }
}
