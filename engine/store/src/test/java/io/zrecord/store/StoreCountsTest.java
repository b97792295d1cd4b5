package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.findings.CheckSummary;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.verify.DatasetCheck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a store says of its values stays possible whatever a table has become: else its meta file
 * could not be read any more.
 */
final class StoreCountsTest {
  private static final int COUNT = 1000;
  private static final int DAMAGED_COUNT = 256;
  private static final int ENTRY_BYTES = 16;

  @TempDir
  Path directory;

  private Path path;

  @BeforeEach
  void write() {
    path = directory.resolve("store");
    RecordSchema schema = RecordSchema.builder().field("label", ElementType.I32).build();
    try (RecordStore store = RecordStore.create(path, schema, StoreOptions.defaults())) {
      for (int i = 0; i < COUNT; i++) {
        store.append(store.newValues().set("label", i));
      }
    }
  }

  private void fill(byte value) throws IOException {
    Path table = path.resolve("label.offset");
    byte[] entries = Files.readAllBytes(table);
    Arrays.fill(entries, 0, DAMAGED_COUNT * ENTRY_BYTES, value);
    Files.write(table, entries);
  }

  private void change() {
    try (RecordStore store = RecordStore.open(path, StoreOptions.defaults())) {
      for (int i = 0; i < DAMAGED_COUNT / 2; i++) {
        store.update(i, store.newValues().set("label", -i));
      }
      store.checkpoint();
      for (int i = DAMAGED_COUNT - 1; i >= DAMAGED_COUNT / 2; i--) {
        store.delete(i);
      }
    }
  }

  private void requireSound() {
    CheckSummary summary = DatasetCheck.of(path.toString()).run(finding -> {});
    assertThat(summary)
        .returns(true, CheckSummary::isSound)
        .returns((long) COUNT - DAMAGED_COUNT / 2, CheckSummary::recordCount);
  }

  @Test
  void recordsOfAPageOfZerosAreChangedAndDeleted() throws IOException {
    // As if they had no value: more than there ever were are taken from those without.
    fill((byte) 0);
    change();
    requireSound();
  }

  @Test
  void recordsOfGreatLengthAreChangedAndDeleted() throws IOException {
    fill((byte) 0xff);
    change();
    requireSound();
  }
}
