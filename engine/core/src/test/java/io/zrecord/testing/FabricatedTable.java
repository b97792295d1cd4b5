package io.zrecord.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.Crc32c;
import io.zrecord.internal.format.FieldTables;
import io.zrecord.internal.format.FileHeader;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.Section;
import io.zrecord.internal.format.TablesJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.format.ValueAlignment;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.ChunkFile;
import io.zrecord.shard.WriteOptions;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.UUID;

/**
 * A table of one shard without checksums of values, whose metadata says what a test wants. All
 * checksums of metadata hold. There are no more chunk files than the test writes.
 */
public final class FabricatedTable {
  private static final UUID SHARD = UUID.fromString("0c9e5b1e-0000-4000-8000-000000000001");
  private static final UUID FILE = UUID.fromString("0c9e5b1e-0000-4000-8000-000000000002");

  private final Path directory;
  private final RecordSchema schema;
  private final long length;
  private final List<ChunkFile> chunks;

  /**
   * Says what the table has.
   *
   * @param directory of the table, which does not exist
   * @param schema fields of one width
   * @param length number of records
   */
  public FabricatedTable(Path directory, RecordSchema schema, long length, List<ChunkFile> chunks) {
    this.directory = directory;
    this.schema = schema;
    this.length = length;
    this.chunks = List.copyOf(chunks);
  }

  /** Returns the header of a chunk file of the shard. */
  public static byte[] chunkHeader(ChunkFile chunk) {
    return new FileHeader(FileHeader.Kind.CHUNK, SHARD, chunk.id()).encode();
  }

  /** Returns the directory of the shard. */
  public Path shardDirectory() {
    return directory.resolve("shard/" + SHARD);
  }

  /** Writes the tables file and the manifest. All fields have the same runs. */
  public void write(List<RunRecord> runs) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(directory.toString(), schema, WriteOptions.defaults())) {
      writer.commit();
    }
    try {
      Files.createDirectories(shardDirectory());
      ByteArrayOutputStream file = new ByteArrayOutputStream();
      file.write(new FileHeader(FileHeader.Kind.TABLES, SHARD, FILE).encode());
      List<FieldTables> fields = new ArrayList<>();
      for (FieldSpec field : schema.fields()) {
        byte[] list = RunRecord.encode(runs);
        fields.add(fieldOf(field, file.size(), list));
        file.write(list);
      }
      int position = file.size();
      byte[] json =
          TablesJson.of(SHARD, FILE, length, false, chunks, fields, position).write();
      file.write(json);
      file.write(new TablesTrailer(position, json.length).encode());
      Files.write(shardDirectory().resolve(FILE + ".tables"), file.toByteArray());
      writeManifest(file.size(), position, json);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static FieldTables fieldOf(FieldSpec field, long position, byte[] list) {
    Binding binding = new Binding(SHARD, field.id());
    return new FieldTables(
        field.id(),
        field.type(),
        field.shape(),
        field.compression(),
        0,
        0,
        0,
        ValueAlignment.NONE,
        0,
        new Section(position, list.length),
        binding.bind(Binding.Kind.RUNS, 0, Crc32c.of(list)),
        Section.NONE,
        Section.NONE,
        Section.NONE,
        Section.NONE);
  }

  private void writeManifest(long fileBytes, long position, byte[] json) throws IOException {
    Path manifest = directory.resolve(ManifestNames.nameOf(0));
    ObjectNode node = (ObjectNode) new ObjectMapper().readTree(Files.readAllBytes(manifest));
    node.remove("crc32c");
    node.put("length", length);
    ArrayNode set = node.putArray("fieldSets").addArray();
    schema.fields().forEach(field -> set.add(field.id()));
    ObjectNode shard = node.putArray("shards").addObject();
    shard.put("uuid", SHARD.toString()).put("length", length);
    TablesJson.writeChunks(shard, chunks);
    shard
        .putArray("tables")
        .addArray()
        .add(FILE.toString())
        .add(fileBytes)
        .add(position)
        .add(json.length)
        .add(HexFormat.of().toHexDigits(SealedJson.checksum("json", json)))
        .add(0);
    shard.putArray("values");
    Files.write(manifest, SealedJson.seal(node));
  }
}
