package io.zrecord.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.EntryUnits;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Finds things in the files of a sealed shard with one tables file, for tests that damage them. */
public final class ShardOnDisk {
  private final Path directory;
  private final Path tables;
  private final byte[] content;
  private final TablesJson json;

  private ShardOnDisk(Path directory, Path tables, byte[] content, TablesJson json) {
    this.directory = directory;
    this.tables = tables;
    this.content = content;
    this.json = json;
  }

  /** Reads the tables file of a shard's directory as it is now. */
  public static ShardOnDisk of(Path directory) {
    try (Stream<Path> files = Files.list(directory)) {
      Path tables = files
          .filter(file -> file.toString().endsWith(".tables"))
          .reduce((first, second) -> {
            throw new IllegalStateException("Two tables files in " + directory);
          })
          .orElseThrow();
      return of(directory, tables, Files.readAllBytes(tables));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static ShardOnDisk of(Path directory, Path tables, byte[] content) {
    int end = content.length - TablesTrailer.BYTES;
    TablesTrailer trailer = TablesTrailer.read(
        "tables", Arrays.copyOfRange(content, end, content.length), content.length);
    byte[] json = Arrays.copyOfRange(content, (int) trailer.position(), end);
    return new ShardOnDisk(
        directory, tables, content, TablesJson.read("tables", json, trailer.position()));
  }

  /**
   * Writes the JSON as it is after a change, with a seal that holds. Returns the summary that a
   * manifest has of the shard then.
   */
  public ShardSummary writeJson(Consumer<ObjectNode> change) {
    try {
      ObjectNode node = (ObjectNode) new ObjectMapper().readTree(sealedJson());
      node.remove("crc32c");
      change.accept(node);
      return writeJson(SealedJson.seal(node));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes another JSON after the sections. */
  public ShardSummary writeJson(byte[] sealed) {
    int position = (int) json.position();
    byte[] trailer = new TablesTrailer(position, sealed.length).encode();
    byte[] changed = Arrays.copyOf(content, position + sealed.length + trailer.length);
    System.arraycopy(sealed, 0, changed, position, sealed.length);
    System.arraycopy(trailer, 0, changed, position + sealed.length, trailer.length);
    try {
      Files.write(tables, changed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return summary(sealed);
  }

  /** Returns the JSON with its seal. */
  public byte[] sealedJson() {
    return Arrays.copyOfRange(content, (int) json.position(), content.length - TablesTrailer.BYTES);
  }

  /** Returns the tables file. */
  public Path tables() {
    return tables;
  }

  public Path chunk(int ordinal) {
    return directory.resolve(json.chunks().get(ordinal).fileName());
  }

  public TablesJson json() {
    return json;
  }

  public FieldTables field(int id) {
    return json.field(id);
  }

  /** Returns the summary that a manifest has of the shard, without the sizes of its fields. */
  public ShardSummary summary() {
    return summary(sealedJson());
  }

  private ShardSummary summary(byte[] sealed) {
    TablesRef ref = new TablesRef(
        json.fileId(),
        json.position() + sealed.length + TablesTrailer.BYTES,
        json.position(),
        sealed.length,
        SealedJson.checksum("tables", sealed),
        List.copyOf(json.fieldIds()));
    return new ShardSummary(
        json.shardId(), json.length(), json.chunks(), List.of(ref), new TreeMap<>());
  }

  /** Returns the position in the tables file of the entry of a slot. */
  public long entryAt(int fieldId, long slot) {
    return field(fieldId).offsets().position() + EntryUnits.entryAt(slot);
  }

  /** Returns the position in the tables file of the checksum of a slot's value. */
  public long checksumAt(int fieldId, long slot) {
    return field(fieldId).offsets().position() + EntryUnits.checksumAt(slot, json.length());
  }

  /** Returns the position in its chunk of the value of a slot with an entry. */
  public long offset(int fieldId, long slot) {
    return words().getLong((int) entryAt(fieldId, slot));
  }

  /** Returns the length in its chunk of the value of a slot with an entry. */
  public int storedBytes(int fieldId, long slot) {
    return words().getInt((int) entryAt(fieldId, slot) + 12);
  }

  /** Returns the position in its chunk of a run of values of one width. */
  public long runOffset(int fieldId, int run) {
    return words().getLong((int) field(fieldId).runs().position() + RunRecord.BYTES * run + 24);
  }

  /** Returns the length in its chunk of a run of values of one width. */
  public long runBytes(int fieldId, int run) {
    return words().getLong((int) field(fieldId).runs().position() + RunRecord.BYTES * run + 32);
  }

  /** Returns the number of runs of a field. */
  public int runCount(int fieldId) {
    return (int) (field(fieldId).runs().bytes() / RunRecord.BYTES);
  }

  /** Gives a unit of entries, which was changed on disk, a checksum that holds. */
  public void sealEntries(int fieldId, long unit) {
    try {
      byte[] changed = Files.readAllBytes(tables);
      int at = (int) (field(fieldId).offsets().position() + EntryUnits.unitAt(unit));
      int bytes = EntryUnits.unitBytes(unit, json.length());
      int checksum = new Binding(json.shardId(), fieldId)
          .bind(Binding.Kind.OFFSETS, unit, Crc32c.of(changed, at, bytes));
      ByteBuffer.wrap(changed).order(ByteOrder.LITTLE_ENDIAN).putInt(at + bytes, checksum);
      Files.write(tables, changed);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private ByteBuffer words() {
    return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
  }
}
