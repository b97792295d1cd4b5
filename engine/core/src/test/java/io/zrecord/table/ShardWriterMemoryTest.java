package io.zrecord.table;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.write.ShardWriter;
import io.zrecord.testing.DirectMemory;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory is that of the stripe, whatever the number and the size of the values. */
class ShardWriterMemoryTest {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("label", ElementType.I32)
      .field("weight", ElementType.F32)
      .field("image", ElementType.BYTES)
      .build();

  private static final int STRIPE_BYTES = 1 << 20;

  @TempDir
  private Path directory;

  private ShardWriter writer() {
    return ShardWriter.create(
        LocalStorage.at(directory),
        UUID.randomUUID(),
        SCHEMA,
        WriteOptions.defaults().withStripeBytes(STRIPE_BYTES).withDurability(Durability.NONE));
  }

  private static void put(ShardWriter writer, byte[] image, int length) {
    writer.putInt(0, length);
    writer.putFloat(1, length);
    writer.put(2, image, 0, length);
    writer.endRecord();
  }

  @Test
  void directMemoryStaysWithinTheStripe() {
    byte[] image = new byte[8 << 20];
    long before = DirectMemory.settledBytes();
    long most = 0;
    try (ShardWriter writer = writer()) {
      for (int i = 0; i < 300; i++) {
        put(writer, image, i % 30 == 0 ? image.length : (i * 7919) % 200_000);
        most = Math.max(most, DirectMemory.usedBytes() - before);
      }
      writer.finish();
    }
    // Beside the stripe: the buffers of tables.
    assertThat(most).isBetween(1L, STRIPE_BYTES + STRIPE_BYTES / 4L);
  }

  @Test
  void nothingIsAllocatedForARecord() {
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long thread = Thread.currentThread().getId();
    byte[] image = new byte[100];
    int count = 1_000_000;
    try (ShardWriter writer = writer()) {
      for (int i = 0; i < 20_000; i++) {
        put(writer, image, i % 100);
      }
      long before = threads.getThreadAllocatedBytes(thread);
      for (int i = 0; i < count; i++) {
        put(writer, image, i % 100);
      }
      long perRecord = (threads.getThreadAllocatedBytes(thread) - before) / count;
      assertThat(perRecord).isLessThan(4);
      writer.finish();
    }
  }
}
