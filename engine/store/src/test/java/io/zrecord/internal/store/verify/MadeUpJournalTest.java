package io.zrecord.internal.store.verify;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.findings.Finding;
import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreOptions;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lengths for which nobody wrote enough records, in a journal whose checksums hold. */
final class MadeUpJournalTest {
  private static final long LENGTH = 1L << 55;

  @TempDir
  Path directory;

  private final List<Finding> findings = new ArrayList<>();

  private void check(Path path) {
    DatasetCheck.of(path.toString()).run(finding -> {
      findings.add(finding);
      assertThat(findings).hasSizeLessThan(100);
    });
  }

  /** Returns the uuid in the header of a journal. */
  private static UUID storeId(byte[] journal) {
    ByteBuffer header = ByteBuffer.wrap(journal);
    return new UUID(header.getLong(16), header.getLong(24));
  }

  /** A record of the journal cannot make the store longer by more records than it has. */
  @Test
  void ofAJournal() throws IOException {
    Path path = SampleStore.killedBeforeTables(directory);
    check(path);
    assertThat(findings).as("control").isEmpty();
    Path journal = path.resolve("journal");
    byte[] content = Files.readAllBytes(journal);
    ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    int at = 64;
    int length = bytes.getInt(at + 4);
    bytes.putLong(at + 32, LENGTH).putInt(at + 20, 0);
    byte[] record = new byte[length];
    System.arraycopy(content, at, record, 0, length);
    Binding binding = new Binding(storeId(content), 0);
    int crc = Crc32c.of(record);
    bytes.putInt(at + 20, binding.bind(Binding.Kind.JOURNAL_RECORD, bytes.getLong(at + 8), crc));
    Files.write(journal, content);
    check(path);
    assertThat(findings)
        .anyMatch(f -> f.kind() == Kind.JOURNAL && f.problem().contains("contradicts"));
    assertThatThrownBy(() -> RecordStore.open(path, StoreOptions.defaults()).close())
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("contradicts");
  }
}
