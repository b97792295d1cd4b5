package io.zrecord.store;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.JournalChunk;
import io.zrecord.internal.format.JournalHeader;
import io.zrecord.internal.format.JournalRecord;
import io.zrecord.internal.format.StoreMeta;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.store.StoreMetaFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Looks into the journal of a store that no writer has open, and changes the store's files. */
public final class JournalProbe {
  private final Path store;
  private final StoreMeta meta;
  private final List<JournalRecord> records = new ArrayList<>();

  /** Reads the whole records. */
  public JournalProbe(Path store) throws IOException {
    this.store = store;
    this.meta = StoreMetaFile.read(new LocalMutableFiles(store));
    ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(store.resolve("journal")));
    Binding binding = new Binding(meta.shard().id(), 0);
    long at = JournalHeader.BYTES;
    JournalRecord record = read(file, at, binding);
    while (record != null) {
      records.add(record);
      at += record.bytes();
      record = read(file, at, binding);
    }
  }

  private static JournalRecord read(ByteBuffer file, long from, Binding binding) {
    return JournalRecord.read(
        (at, target) -> {
          int bytes = Math.min(target.remaining(), file.capacity() - (int) at);
          target.put(file.slice((int) at, bytes));
          return bytes;
        },
        from,
        file.capacity(),
        binding);
  }

  public List<JournalRecord> records() {
    return records;
  }

  /** Returns the meta file. */
  public StoreMeta meta() {
    return meta;
  }

  /** Returns, by the names of chunks, up to where a chunk was forced that the journal carries. */
  public Map<String, Long> forcedBytes() {
    Map<String, Long> forced = new TreeMap<>();
    for (JournalRecord record : records) {
      for (JournalChunk chunk : record.chunks()) {
        if (chunk.carried().hasRemaining()) {
          forced.merge(chunk.meta().fileName(), chunk.carriedFrom(), Math::min);
        }
      }
    }
    return forced;
  }

  /** Leaves of the chunks what was forced; lost bytes are zeros, or the files are shorter. */
  public void losePower(boolean keepsLength) throws IOException {
    for (Map.Entry<String, Long> forced : forcedBytes().entrySet()) {
      Path file = store.resolve(forced.getKey());
      byte[] kept = Arrays.copyOf(Files.readAllBytes(file), Math.toIntExact(forced.getValue()));
      Files.write(file, keepsLength ? Arrays.copyOf(kept, (int) Files.size(file)) : kept);
    }
  }

  /** Writes the journal without what its records carry. */
  public void dropCarried() throws IOException {
    JournalRecord.Encoder encoder =
        new JournalRecord.Encoder(new Binding(meta.shard().id(), 0));
    int fields = meta.shard().fields().size();
    ByteArrayOutputStream journal = new ByteArrayOutputStream();
    journal.writeBytes(new JournalHeader(meta.shard().id()).encode());
    for (JournalRecord record : records) {
      List<JournalChunk> chunks = record.chunks();
      encoder.begin(
          record.sequence(), 1, record.length(), fields, chunks.size(), record.slotCount());
      chunks.forEach(chunk -> encoder.chunk(JournalChunk.forced(chunk.meta())));
      for (int slot = 0; slot < record.slotCount(); slot++) {
        encoder.slot(record.index(slot));
        for (int field = 0; field < fields; field++) {
          encoder.entry(
              record.word0(slot, field), record.word1(slot, field), record.checksum(slot, field));
        }
      }
      ByteBuffer bytes = encoder.end(encoder.bytes());
      byte[] copy = new byte[bytes.limit()];
      bytes.get(0, copy);
      journal.writeBytes(copy);
    }
    Files.write(store.resolve("journal"), journal.toByteArray());
  }
}
