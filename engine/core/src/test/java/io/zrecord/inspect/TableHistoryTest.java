package io.zrecord.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.VersionNotFoundException;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.LaterTable;
import io.zrecord.table.RecordTable;
import io.zrecord.table.TableChange;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.DirectoryInMemory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableHistoryTest {
  private static final RecordSchema SCHEMA =
      RecordSchema.builder().field("label", ElementType.I32).build();

  @TempDir(factory = DirectoryInMemory.class)
  Path path;

  private Storage storage;

  @BeforeEach
  void open() {
    storage = LocalStorage.at(path);
  }

  private void append(int shards) {
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.append(path.toString(), SCHEMA, WriteOptions.defaults())) {
      for (int i = 0; i < shards; i++) {
        RecordAppender records = writer.newAppender();
        records.set("label", i).endRecord();
      }
      writer.commit();
    }
  }

  private VersionEntry entry(long version) {
    return TableHistory.of(storage).find(version).orElseThrow();
  }

  @Test
  void aVersionSaysWhatItsCommitDid() {
    append(2);
    append(1);
    RecordTable.at(storage).tag(1, "b");
    RecordTable.at(storage).tag(1, "a");
    VersionEntry entry = entry(1);
    assertThat(entry.operation()).isEqualTo("append");
    assertThat(entry.addedRecords()).hasValue(1);
    assertThat(entry.removedRecords()).hasValue(0);
    assertThat(entry.removedBytes()).hasValue(0);
    assertThat(entry.recordCount()).isEqualTo(3);
    assertThat(entry.shardCount()).isEqualTo(3);
    assertThat(entry.user()).contains(System.getProperty("user.name"));
    assertThat(entry.applicationId()).isEmpty();
    assertThat(entry.tags()).containsExactly("a", "b");
    assertThat(entry.timestamp()).isEqualTo(RecordTable.at(storage).version(1).timestamp());
    assertThat(entry(0).tags()).isEmpty();
  }

  @Test
  void shardsInListsAreCountedWithoutReadingThem() throws IOException {
    append(1001);
    append(1);
    try (var lists = Files.list(path.resolve("list"))) {
      for (Path list : lists.toList()) {
        Files.delete(list);
      }
    }
    assertThat(entry(1).shardCount()).isEqualTo(1002);
    List<DatasetFile> files = TableHistory.of(storage).files(1);
    assertThat(files).extracting(DatasetFile::kind).contains(DatasetFile.Kind.LIST);
    assertThat(files.stream().filter(file -> file.kind() == DatasetFile.Kind.LIST))
        .allMatch(file -> file.lengthBytes().isEmpty());
    assertThat(files.get(0).name()).isEqualTo("manifest/00000000000000000001.json");
    assertThat(files.get(0).lengthBytes())
        .hasValue(Files.size(path.resolve(files.get(0).name())));
  }

  @Test
  void whatTheWriterLeftNeedNotMakeSense() {
    append(1);
    TableSnapshot base = RecordTable.at(storage).latest();
    RecordTable.at(storage)
        .commit(TableChange.of(TableChange.Kind.OVERWRITE, SCHEMA)
            .baseVersion(OptionalLong.of(base.version()))
            .shards(base.shards())
            .properties(Map.of("removedBytes", "many", "applicationId", "a\nb"))
            .build());
    VersionEntry entry = entry(1);
    assertThat(entry.removedBytes()).isEmpty();
    assertThat(entry.applicationId()).contains("a\nb");
    assertThat(entry.properties()).containsEntry("removedBytes", "many");
  }

  @Test
  void aTaggedVersionBelowTheFloorIsToldByItsCopy() throws IOException {
    append(2);
    append(1);
    RecordTable.at(storage).tag(0, "old");
    LaterTable.expire(storage, 1);
    VersionEntry entry = entry(0);
    assertThat(entry.recordCount()).isEqualTo(2);
    assertThat(entry.tags()).containsExactly("old");
    DatasetFile manifest = TableHistory.of(storage).files(0).get(0);
    assertThat(manifest.kind()).isEqualTo(DatasetFile.Kind.MANIFEST);
    assertThat(manifest.name()).isEqualTo("tag/" + storage.list("tag").get(0).name());
    assertThat(manifest.lengthBytes()).hasValue(Files.size(path.resolve(manifest.name())));
    RecordTable.at(storage).untag("old");
    assertThat(TableHistory.of(storage).find(0)).isEmpty();
  }

  @Test
  void versionsOfCareAreTold() {
    append(1);
    RecordTable.at(storage).tag(0, "old");
    VersionEntry entry = entry(1);
    assertThat(entry.operation()).isEqualTo("tag");
    assertThat(entry.recordCount()).isEqualTo(1);
    assertThat(entry.addedRecords()).hasValue(0);
    assertThat(entry.user()).contains(System.getProperty("user.name"));
    assertThat(entry.tags()).isEmpty();
  }

  @Test
  void aVersionThatIsNotThereIsNone() {
    append(1);
    assertThat(TableHistory.of(storage).find(7)).isEmpty();
    assertThatThrownBy(() -> TableHistory.of(storage).files(7))
        .isInstanceOf(VersionNotFoundException.class)
        .hasMessageContaining("the versions are 0");
  }

  @Test
  void aDamagedManifestIsSaidToBe() throws IOException {
    append(1);
    Path manifest = path.resolve("manifest/00000000000000000000.json");
    byte[] bytes = Files.readAllBytes(manifest);
    bytes[20] ^= 1;
    Files.write(manifest, bytes);
    assertThatThrownBy(() -> entry(0)).isInstanceOf(CorruptDataException.class);
  }

  @Test
  void bucketsOfAHistogramAreBetweenPowersOfTwo() {
    SizeHistogram.Builder builder = new SizeHistogram.Builder();
    IntStream.of(0, 1, 2, 3, 4).forEach(size -> builder.add(size, 1));
    builder.add(Long.MAX_VALUE, 2);
    SizeHistogram histogram = builder.build();
    assertThat(histogram.buckets())
        .containsExactly(
            new SizeHistogram.Bucket(0, 0, 1),
            new SizeHistogram.Bucket(1, 1, 1),
            new SizeHistogram.Bucket(2, 3, 2),
            new SizeHistogram.Bucket(4, 7, 1),
            new SizeHistogram.Bucket(1L << 62, Long.MAX_VALUE, 2));
    assertThat(histogram.plus(histogram).count()).isEqualTo(14);
    assertThat(histogram.plus(SizeHistogram.EMPTY)).isEqualTo(histogram);
  }
}
