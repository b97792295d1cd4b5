package io.zrecord.internal.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.ChunkMeta;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.testing.PowerLossFiles;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What counts in a journal, where it ends, and what is damage, by the rules of FORMAT.md. */
final class JournalTest {
  private static final UUID STORE = UUID.fromString("44444444-4444-4444-8444-444444444444");
  private static final Binding BINDING = new Binding(STORE, 0);
  private static final long CHECKPOINT = 4;
  private static final int FORCED = JournalRecord.FORCED_BEFORE;

  private final PowerLossFiles files = new PowerLossFiles(Long.MAX_VALUE);
  private final MutableFile file = files.create(JournalRecord.FILE_NAME);
  private final List<Long> lengths = new ArrayList<>();
  private final List<String> carried = new ArrayList<>();

  JournalTest() {
    file.write(0, ByteBuffer.wrap(new JournalHeader(STORE).encode()));
  }

  /** Returns a record without entries that says a length; the length tells the record. */
  private static byte[] record(long sequence, int flags, long length, JournalChunk... chunks) {
    JournalRecord.Encoder encoder = new JournalRecord.Encoder(BINDING);
    encoder.begin(sequence, flags, length, 1, chunks.length, 0);
    for (JournalChunk chunk : chunks) {
      encoder.chunk(chunk);
    }
    ByteBuffer bytes = encoder.end(encoder.bytes());
    return copyOf(bytes);
  }

  private static byte[] copyOf(ByteBuffer bytes) {
    byte[] copy = new byte[bytes.limit()];
    bytes.get(0, copy);
    return copy;
  }

  private static JournalChunk chunk(int id, long end, String text) {
    return new JournalChunk(
        new ChunkMeta(id, 1, end), ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII)));
  }

  private void add(byte[] bytes) {
    file.write(file.lengthBytes(), ByteBuffer.wrap(bytes));
  }

  /** Returns the bytes that were not a whole record. */
  private long replay() {
    try (Journal journal = Journal.open(files, STORE, CHECKPOINT, true)) {
      return journal.replay(1, 100, new Journal.Visitor() {
        @Override
        public void chunk(JournalChunk chunk) {
          byte[] bytes = new byte[chunk.carried().remaining()];
          chunk.carried().get(bytes);
          carried.add(chunk.meta().id() + "@" + (chunk.meta().endBytes() - bytes.length) + " "
              + new String(bytes, StandardCharsets.US_ASCII));
        }

        @Override
        public void entry(long index, int field, long word0, long word1, int checksum) {}

        @Override
        public void endRecord(long length) {
          lengths.add(length);
        }
      });
    }
  }

  @Test
  void recordsUpToTheCheckpointAndRepeatedOnesAreSkipped() {
    add(record(3, FORCED, 97));
    add(record(4, FORCED, 96));
    add(record(5, FORCED, 95));
    add(record(5, FORCED, 90));
    add(record(2, FORCED, 92));
    add(record(6, FORCED, 94));
    assertThat(replay()).isZero();
    assertThat(lengths).containsExactly(95L, 94L);
  }

  @Test
  void aNumberThatJumpsEndsTheJournal() {
    add(record(5, FORCED, 95));
    byte[] jump = record(7, 0, 93);
    add(jump);
    assertThat(replay()).isEqualTo(jump.length);
    assertThat(lengths).containsExactly(95L);
  }

  @Test
  void aNumberThatJumpsIsDamageIfWhatIsMissingWasForced() {
    add(record(5, FORCED, 95));
    add(record(7, FORCED, 93));
    assertThatThrownBy(this::replay)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("record 6 at byte 120 is damaged");
  }

  @ParameterizedTest
  @ValueSource(ints = {8, 16, 4096})
  void aLaterRecordIsLookedForAtMultiplesOf8(int bytes) {
    add(new byte[bytes]);
    add(record(6, FORCED, 94));
    assertThatThrownBy(this::replay)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("record 5 at byte 64 is damaged");
  }

  @Test
  void elsewhereThereIsNoRecord() {
    add(new byte[12]);
    add(record(6, FORCED, 94));
    assertThat(replay()).isEqualTo(12 + 56);
    assertThat(lengths).isEmpty();
  }

  @Test
  void carriedBytesOfSeveralChunksComeInTheirOrder() {
    add(record(5, FORCED, 95, chunk(0, 100, "abc"), chunk(3, 4096, ""), chunk(1, 90, "12345678")));
    add(record(6, FORCED, 94, chunk(0, 104, "defg")));
    assertThat(replay()).isZero();
    assertThat(carried).containsExactly("0@97 abc", "3@4096 ", "1@82 12345678", "0@100 defg");
  }

  @Test
  void aRecordMayBeLongerThanItsParts() {
    JournalRecord.Encoder encoder = new JournalRecord.Encoder(BINDING);
    encoder.begin(5, FORCED, 95, 1, 1, 0);
    encoder.chunk(chunk(0, 100, "abc"));
    ByteBuffer bytes = encoder.end(encoder.bytes() + 1024);
    add(copyOf(bytes));
    add(record(6, FORCED, 94));
    assertThat(replay()).isZero();
    assertThat(carried).containsExactly("0@97 abc");
    assertThat(lengths).containsExactly(95L, 94L);
  }

  @ParameterizedTest
  @ValueSource(ints = {9, 25, 37, 1 << 30, Integer.MAX_VALUE, -1, Integer.MIN_VALUE})
  void moreCarriedBytesThanARecordHasAreDamage(int bytes) {
    // The record has 8 bytes for what it carries, and the chunk 36 after its header.
    byte[] record = record(5, FORCED, 95, chunk(0, 100, "abc"));
    ByteBuffer buffer = ByteBuffer.wrap(record).order(ByteOrder.LITTLE_ENDIAN);
    buffer.putInt(60, bytes).putInt(20, 0);
    buffer.putInt(20, BINDING.bind(Binding.Kind.JOURNAL_RECORD, 5, Crc32c.of(record)));
    add(record);
    assertThatThrownBy(this::replay)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("bytes of");
  }

  @Test
  void carriedBytesInTheHeaderOfAChunkAreDamage() {
    add(record(5, FORCED, 95, chunk(0, 66, "abc")));
    assertThatThrownBy(this::replay)
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("ends at byte 66, and carries 3 bytes of it");
  }
}
