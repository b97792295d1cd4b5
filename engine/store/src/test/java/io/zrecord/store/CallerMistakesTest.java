package io.zrecord.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.read.ReadMetrics;
import io.zrecord.read.Verification;
import io.zrecord.rebalance.RebalanceOptions;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.NestedType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.ExpireOptions;
import io.zrecord.table.SweepOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Mistakes of the caller are the JDK's exceptions, here and there alike, and change nothing. */
final class CallerMistakesTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("text", ElementType.UTF8)
      .field("label", ElementType.I32)
      .field("words", ElementType.nested(NestedType.listOf(NestedType.of(ElementType.UTF8))))
      .build();
  private static final String HALF = "a\ud83d";
  private static final String PAIR = "a\ud83d\ude00";

  @TempDir
  Path directory;

  @Test
  void nullMakesAValueAbsentInStoresAsInTables() {
    Path path = directory.resolve("store");
    try (RecordStore store = RecordStore.create(path, SCHEMA, StoreOptions.defaults())) {
      store.append(store.newValues().set("text", null).set("label", 1));
      store.append(store.newValues().set("text", "there").set("label", 2));
      store.update(1, store.newValues().set("text", null));
      store.commit();
      try (Batch batch = store.gather(new long[] {0, 1})) {
        assertThat(batch.isAbsent("text", 0)).isTrue();
        assertThat(batch.isAbsent("text", 1)).isTrue();
        assertThat(batch.value("label", 1).getInt()).isEqualTo(2);
      }
    }
  }

  @Test
  void halfASurrogatePairIsRefused() {
    Path table = directory.resolve("table");
    try (RecordStore store =
            RecordStore.create(directory.resolve("store"), SCHEMA, StoreOptions.defaults());
        RecordDatasetWriter writer =
            RecordDatasetWriter.create(table.toString(), SCHEMA, WriteOptions.defaults())) {
      RecordAppender appender = writer.newAppender();
      for (String half : List.of(HALF, HALF + "b", "\udc00", "\udc00\ud800", PAIR + "\ud800")) {
        for (ThrowingCallable set : List.<ThrowingCallable>of(
            () -> store.newValues().set("text", half),
            () -> store.newValues().set("words", List.of("fine", half)),
            () -> appender.set("text", half),
            () -> appender.set("words", List.of(half)))) {
          assertThatThrownBy(set)
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("half of a surrogate pair");
        }
      }
      store.append(store.newValues().set("text", PAIR));
      store.commit();
      try (Batch batch = store.gather(new long[] {0}, "text")) {
        assertThat(batch.bytes("text", 0)).hasSize(5).startsWith('a', 0xf0);
      }
      appender.set("text", PAIR).endRecord();
      writer.commit();
    }
    try (RecordDataset dataset = RecordDataset.open(table.toString())) {
      assertThat(dataset.length()).isEqualTo(1);
    }
  }

  @Test
  void optionsTakeNoNullAndNoTimeThatIsNone() {
    StoreOptions store = StoreOptions.defaults();
    WriteOptions write = WriteOptions.defaults();
    Map<String, Compression> none = Collections.singletonMap("text", null);
    for (ThrowingCallable option : List.<ThrowingCallable>of(
        () -> store.withDurability(null),
        () -> store.withVerification(null),
        () -> store.withCloseTimeout(null),
        () -> write.withTransform(null),
        () -> write.withChecksum(null),
        () -> write.withDurability(null),
        () -> new RecordDataset.ReadOptions(null, new ReadMetrics()),
        () -> new RecordDataset.ReadOptions(Verification.FIRST, null),
        () -> ExpireOptions.defaults().withOlderThan(null),
        () -> ExpireOptions.defaults().withMode(null),
        () -> SweepOptions.defaults().withOlderThan(null),
        () -> SweepOptions.defaults().withMode(null),
        () -> RebalanceOptions.defaults().withWrite(null),
        () -> RebalanceOptions.defaults().withCompression(none),
        () -> StoreRebalanceOptions.defaults().withCompression(none))) {
      assertThatThrownBy(option).isInstanceOf(NullPointerException.class);
    }
    for (Duration time : Arrays.asList(Duration.ofNanos(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> store.withCloseTimeout(time))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("closeTimeout");
    }
    assertThat(store.withCloseTimeout(Duration.ZERO).closeTimeout()).isZero();
  }
}
