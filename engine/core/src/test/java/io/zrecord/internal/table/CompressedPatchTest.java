package io.zrecord.internal.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.RecordFieldsWriter;
import io.zrecord.findings.Finding;
import io.zrecord.internal.format.PatchField;
import io.zrecord.internal.format.PatchJson;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.internal.format.TablesTrailer;
import io.zrecord.internal.shard.OpenShards;
import io.zrecord.internal.shard.layout.PatchFile;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.Codec;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import io.zrecord.table.RowChange;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A patch whose values are compressed, as the format allows, is followed by one of this release.
 */
final class CompressedPatchTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.BYTES)
      .field("number", ElementType.I32)
      .build();

  /** The bytes "new", stored as they are behind their length. */
  private static final byte[] STORED = {3, 0, 0, (byte) 0x80, 'n', 'e', 'w'};

  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);

  @TempDir
  Path directory;

  @Test
  void compressedValuesStayWhatTheyAre() throws IOException {
    RecordTable table = compressedTable();
    RowChange second = RowChange.of(table.latest());
    second.update(1, "number", 20);
    second.commit();
    assertThat(text(table.latest())).isEqualTo("new");
  }

  @Test
  void compressedValuesStayCompressedIfAnotherFieldIsRewritten() throws IOException {
    RecordTable table = compressedTable();
    try (RecordFieldsWriter writer = RecordFieldsWriter.rewrite(table, Set.of("number"), OPTIONS)) {
      RecordAppender values = writer.newAppender(0);
      values.set("number", 10).endRecord();
      values.set("number", 20).endRecord();
      writer.commit();
    }
    TableSnapshot after = table.latest();
    assertThat(text(after)).isEqualTo("new");
    PatchFile patch =
        OpenShards.unshared(after.storage(), after.shards().get(0)).patch();
    assertThat(patch.json().fields().keySet()).containsExactly(1);
    assertThat(patch.json().field(1).compression().codec()).isEqualTo(Codec.ZSTD);
    List<Finding> findings = new ArrayList<>();
    DatasetCheck.of(after.storage().location()).run(findings::add);
    // The patch before is not the one that version 1 names.
    assertThat(findings).noneMatch(finding -> patch.path().equals(finding.file()));
  }

  /** Returns a table whose newest version has a patch of both fields, the first compressed. */
  private RecordTable compressedTable() throws IOException {
    Path path = directory.resolve("table");
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), SCHEMA, OPTIONS)) {
      RecordAppender records = writer.newAppender();
      records.set("text", new byte[] {'o'}).set("number", 1).endRecord();
      records.set("text", new byte[] {'p'}).set("number", 2).endRecord();
      writer.commit();
    }
    RecordTable table = RecordTable.at(LocalStorage.at(path));
    RowChange first = RowChange.of(table.latest());
    first.update(0, "text", STORED);
    first.update(0, "number", 5);
    TableSnapshot raw = first.commit();
    ShardSummary shard = raw.shards().get(0);
    table.commit(TableChange.rebalance(
        raw,
        raw.version(),
        SCHEMA,
        List.of(new TableChange.Replacement(List.of(shard), List.of(compressed(path, shard)))),
        Map.of()));
    assertThat(text(table.latest())).isEqualTo("new");
    return table;
  }

  /** Says in the patch that its values of the first field are compressed. */
  private static ShardSummary compressed(Path path, ShardSummary shard) throws IOException {
    PatchRef ref = shard.patch();
    Path file = path.resolve(shard.directory()).resolve(ref.fileName());
    byte[] bytes = Files.readAllBytes(file);
    int at = (int) ref.jsonPosition();
    PatchJson json =
        PatchJson.read("patch", Arrays.copyOfRange(bytes, at, at + ref.jsonBytes()), at);
    PatchField field = json.field(1);
    PatchField changed = new PatchField(
        1,
        field.type(),
        field.shape(),
        Compression.of(Codec.ZSTD),
        field.count(),
        field.absentCount(),
        field.valueBytes(),
        field.slots(),
        field.entries(),
        field.statistics());
    byte[] text = PatchJson.of(
            json.shardId(),
            json.fileId(),
            json.slots(),
            json.chunks(),
            json.deleted(),
            List.of(changed, json.field(2)),
            json.since(),
            at)
        .write();
    ByteBuffer written = ByteBuffer.allocate(at + text.length + TablesTrailer.BYTES);
    written.put(bytes, 0, at).put(text).put(new TablesTrailer(at, text.length).encode());
    Files.write(file, written.array());
    PatchRef sealed = new PatchRef(
        ref.id(),
        written.capacity(),
        at,
        text.length,
        SealedJson.checksum("patch", text),
        ref.slots());
    return shard.patched(shard.length(), shard.chunks(), sealed);
  }

  private static String text(TableSnapshot snapshot) {
    try (RecordDataset dataset =
        RecordDataset.open(snapshot, RecordDataset.ReadOptions.defaults())) {
      FieldReader reader = dataset.reader("text");
      reader.select(new long[] {0}, 0, 1);
      return new String(reader.value(0), java.nio.charset.StandardCharsets.US_ASCII);
    }
  }
}
