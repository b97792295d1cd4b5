package io.zrecord.changes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.read.IndexSet;
import io.zrecord.shard.PatchRef;
import io.zrecord.shard.ShardSummary;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.TableSnapshot;
import io.zrecord.testing.Budget;
import io.zrecord.testing.ForwardingStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a commit changed is read from parts of a large patch, and each part is checked. */
final class LargePatchChangesTest {
  private final Random random = Budget.random();

  @TempDir
  Path directory;

  private Storage storage;
  private ModelTable model;
  private ShardSummary shard;
  private PatchRef patch;

  @BeforeEach
  void create() {
    storage = LocalStorage.at(directory.resolve("table"));
    model = new ModelTable(storage, random, 6000);
    List<Integer> most = model.someIndices(4900);
    model.change(most.subList(0, 400), most.subList(400, 4900));
    model.change(model.someIndices(3), List.of());
    List<Integer> few = model.someIndices(8);
    model.change(few.subList(0, 3), few.subList(3, 8));
    TableSnapshot latest = model.table.latest();
    shard = latest.shards().get(0);
    patch = Objects.requireNonNull(shard.patch());
  }

  @Test
  void entriesOfValuesAreNotRead() {
    AtomicLong bytes = new AtomicLong();
    Storage counted = new ForwardingStorage(storage) {
      @Override
      public ReadableFile open(String name, long lengthBytes) {
        ReadableFile file = storage.open(name, lengthBytes);
        assertThat(name).isEqualTo(shard.fileOf(patch));
        return new ReadableFile() {
          @Override
          public String path() {
            return file.path();
          }

          @Override
          public long lengthBytes() {
            return file.lengthBytes();
          }

          @Override
          public ByteBuffer region(long position, int length) {
            bytes.addAndGet(length);
            return file.region(position, length);
          }

          @Override
          public void close() {
            file.close();
          }
        };
      }
    };
    RecordChanges told = TableChanges.of(counted).net(2, 3).records();
    assertThat(told).isEqualTo(model.differences(2, 3));
    assertThat(patch.bytes()).isGreaterThan(64 << 10);
    assertThat(bytes.get()).isPositive().isLessThan(patch.bytes() / 2);
    assertThat(TableChanges.of(storage).net(0, 3).records()).isEqualTo(model.differences(0, 3));
  }

  @Test
  void damageIsFoundOrDoesNotMatter() throws IOException {
    Path file = directory.resolve("table").resolve(shard.fileOf(patch));
    byte[] content = Files.readAllBytes(file);
    RecordChanges told = model.differences(2, 3);
    int found = 0;
    for (int trial = Budget.of(2000); trial > 0; trial--) {
      byte[] damaged = content.clone();
      damaged[random.nextInt(content.length)] ^= (byte) (1 << random.nextInt(8));
      Files.write(file, damaged);
      try {
        assertThat(TableChanges.of(storage).net(2, 3).records()).isEqualTo(told);
      } catch (CorruptDataException e) {
        assertThat(e).hasMessageContaining(patch.fileName());
        found++;
      }
    }
    assertThat(found).isPositive();
    Files.write(file, content);
    assertThat(TableChanges.of(storage).net(2, 3).records()).isEqualTo(told);
    assertThat(told.deleted()).isNotEqualTo(IndexSet.empty());
  }

  @Test
  void aPatchOfAnotherLengthIsRefused() throws IOException {
    Path file = directory.resolve("table").resolve(shard.fileOf(patch));
    byte[] content = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(content, content.length + 1));
    assertThatThrownBy(() -> TableChanges.of(storage).net(2, 3))
        .isInstanceOf(CorruptDataException.class)
        .hasMessageContaining("the dataset says " + patch.bytes());
  }
}
