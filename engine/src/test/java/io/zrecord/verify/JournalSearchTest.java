package io.zrecord.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordStore;
import io.zrecord.StoreOptions;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.repair.DatasetRepair;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The bytes after a damaged record of a journal may be made to look like records, one within the
 * other.
 */
@Timeout(300)
final class JournalSearchTest {
  private static final int HEADER_BYTES = 64;
  private static final int RECORD_MAGIC = 0x4a52_525a;
  private static final int FAKE_BYTES = 32;
  private static final int LEAST_RECORD_BYTES = 56;
  private static final int FORCED_BEFORE = 1;

  @TempDir
  Path directory;

  private Path path;
  private byte[] journal;
  private int secondAt;

  @BeforeEach
  void write() throws IOException {
    path = SampleStore.killedBeforeTables(directory);
    journal = Files.readAllBytes(path.resolve("journal"));
    secondAt = HEADER_BYTES + buffer().getInt(HEADER_BYTES + 4);
  }

  private ByteBuffer buffer() {
    return ByteBuffer.wrap(journal).order(ByteOrder.LITTLE_ENDIAN);
  }

  /**
   * Writes the first record, headers in the place of the second, and the records after it unless
   * {@code toTheEnd}.
   */
  private void forge(int count, int flags, boolean toTheEnd) throws IOException {
    int thirdAt = secondAt + buffer().getInt(secondAt + 4);
    int forged = count * FAKE_BYTES;
    ByteBuffer file = ByteBuffer.allocate(
            secondAt + forged + (toTheEnd ? 0 : journal.length - thirdAt))
        .order(ByteOrder.LITTLE_ENDIAN);
    file.put(journal, 0, secondAt);
    for (int i = 0; i < count; i++) {
      int length =
          toTheEnd ? Math.max(forged - i * FAKE_BYTES, LEAST_RECORD_BYTES) : LEAST_RECORD_BYTES;
      file.putInt(RECORD_MAGIC).putInt(length).putLong(Long.MAX_VALUE - i);
      file.putInt(flags).putInt(0).putLong(0);
    }
    if (!toTheEnd) {
      file.put(journal, thirdAt, journal.length - thirdAt);
    }
    Files.write(path.resolve("journal"), file.array());
  }

  private List<Finding> damages() {
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(path.toString()).run(findings::add);
    return findings.stream().filter(finding -> finding.kind().isDamage()).toList();
  }

  private void requireRepairable() {
    assertThat(damages()).anyMatch(finding -> finding.kind() == Finding.Kind.JOURNAL);
    assertThat(
            DatasetRepair.of(path.toString()).run(finding -> {}, plan -> true).isDone())
        .isTrue();
    assertThat(damages()).isEmpty();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      assertThat(store.length()).isEqualTo(SampleStore.COUNT + 3);
    }
  }

  @Test
  void headersWithinEachOtherAreDamageAndFoundSoon() throws IOException {
    forge(1 << 18, FORCED_BEFORE, true);
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("more that looks like records");
    requireRepairable();
  }

  @Test
  void aSafeRecordBehindHeadersIsFound() throws IOException {
    forge(10, FORCED_BEFORE, false);
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("was written when it was safe");
    requireRepairable();
  }

  /** As of one that was cut: nobody was told that it was committed. */
  @Test
  void headersThatProveNothingAreNotRead() throws IOException {
    forge(1 << 18, 0, true);
    assertThat(damages()).isEmpty();
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      assertThat(store.length()).isEqualTo(SampleStore.COUNT + 3);
    }
  }
}
