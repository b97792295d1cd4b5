package io.zrecord.internal.shard.write;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.internal.format.Binding;
import io.zrecord.internal.format.RunRecord;
import io.zrecord.internal.shard.file.TablesFile;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.TablesRef;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.WritableFile;
import io.zrecord.testing.DirectMemory;
import io.zrecord.testing.ForwardingStorage;
import io.zrecord.testing.MemoryStorage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** How many ranges of chunks the values of fields of very different sizes are. */
class OwnStripeTest {
  private static final WriteOptions OPTIONS =
      WriteOptions.defaults().withDurability(Durability.NONE);
  private static final UUID ID = UUID.fromString("9f0c2b9e-6a50-4d0c-a8b1-6c8f7f0e2c11");
  private static final int IMAGE_BYTES = 64 << 10;

  private final ChunksToNowhere storage = new ChunksToNowhere();

  /** A storage that keeps the lengths of chunks, not their bytes. */
  private static final class ChunksToNowhere extends ForwardingStorage {
    ChunksToNowhere() {
      super(new MemoryStorage());
    }

    @Override
    public WritableFile create(String name) {
      return name.endsWith(".zr") ? new LengthOnly() : super.create(name);
    }
  }

  private static final class LengthOnly implements WritableFile {
    private long position;

    @Override
    public void write(ByteBuffer... sources) {
      for (ByteBuffer source : sources) {
        position += source.remaining();
        source.position(source.limit());
      }
    }

    @Override
    public String path() {
      return "nowhere";
    }

    @Override
    public long positionBytes() {
      return position;
    }

    @Override
    public void force() {}

    @Override
    public void close() {}
  }

  private ShardFilesWriter writer(RecordSchema schema, WriteOptions options) {
    return new ShardFilesWriter(storage, "shard/" + ID, ID, ID, schema, options);
  }

  private List<RunRecord> runs(ShardSummary shard, RecordSchema schema, int ordinal) {
    FieldSpec field = schema.fields().get(ordinal);
    TablesFile file = TablesFile.open(storage, shard, shard.tables().get(0), kept -> {});
    return file.runs(
        file.json().field(field.id()),
        field.valueWidthBytes().orElseThrow(),
        new Binding(ID, field.id()));
  }

  private static RecordSchema images() {
    return RecordSchema.builder()
        .field("label", ElementType.I32)
        .field("image", ElementType.BYTES)
        .build();
  }

  @Test
  void labelsBesideLargeValuesAreOneRun() {
    byte[] image = new byte[IMAGE_BYTES];
    try (ShardFilesWriter writer = writer(images(), OPTIONS)) {
      for (int i = 0; i < 10_000; i++) {
        writer.column(0).putInt(i);
        writer.column(1).put(image, 0, image.length);
        writer.endRecord();
      }
      ShardSummary shard = writer.seal();
      assertThat(shard.chunks()).hasSizeGreaterThan(1);
      assertThat(runs(shard, images(), 0)).hasSize(1);
    }
  }

  /** A stripe of both fields, which is full when the memory is, gives the label many runs. */
  @Test
  void controlOfACommonStripe() {
    byte[] image = new byte[IMAGE_BYTES];
    RecordSchema schema = images();
    SegmentPool pool = new SegmentPool(OPTIONS.stripeBytes(), 2);
    String directory = "shard/" + ID;
    ChunkWriter chunks = new ChunkWriter(storage, directory, ID, ID, OPTIONS);
    TableSpool spool = new TableSpool(storage, directory + "/x.spool", 1 << 20, 4);
    List<ColumnWriter> columns = ColumnWriters.create(ID, schema, OPTIONS, chunks, pool, spool);
    Stripe common = new Stripe(columns, OPTIONS.stripeBytes() / 4 * 3);
    for (int i = 0; i < 10_000; i++) {
      columns.get(0).putInt(i);
      columns.get(1).put(image, 0, image.length);
      if (common.endRecord(i)) {
        common.flush();
      }
    }
    common.flush();
    chunks.roll();
    columns.forEach(ColumnWriter::end);
    spool.complete();
    TablesRef tables;
    try (TablesWriter writer =
        new TablesWriter(storage, directory, ID, new UUID(1, 1), 10_000, true)) {
      columns.forEach(column -> column.finish(writer));
      tables = writer.seal(chunks.chunks(), Durability.NONE);
    }
    ShardSummary shard =
        new ShardSummary(ID, 10_000, chunks.chunks(), List.of(tables), new TreeMap<>());
    assertThat(runs(shard, schema, 0)).hasSizeGreaterThan(20);
  }

  /** The memory nears its bound again and again, and each time the longest stripes go. */
  @Test
  void aSmallFieldIsNotWrittenForWantOfMemory() {
    RecordSchema.Builder builder = RecordSchema.builder().field("label", ElementType.I32);
    for (int f = 1; f <= 40; f++) {
      builder.field("text" + f, ElementType.UTF8);
    }
    byte[] text = new byte[800];
    RecordSchema schema = builder.build();
    try (ShardFilesWriter writer = writer(schema, OPTIONS)) {
      for (int i = 0; i < 10_000; i++) {
        writer.column(0).putInt(i);
        for (int f = 1; f <= 40; f++) {
          writer.column(f).put(text, 0, text.length - f);
        }
        writer.endRecord();
      }
      assertThat(writer.writtenBytes()).isGreaterThan(5 * OPTIONS.stripeBytes());
      assertThat(runs(writer.seal(), schema, 0)).hasSize(1);
    }
  }

  @Test
  void aThousandScalarsAreAFewRangesWithinTheMemory() {
    int fields = 1_000;
    WriteOptions options = OPTIONS.withStripeBytes(8 << 20);
    RecordSchema.Builder builder = RecordSchema.builder();
    for (int f = 0; f < fields; f++) {
      builder.field("f" + f, f < 300 ? ElementType.I64 : ElementType.I16);
    }
    RecordSchema schema = builder.build();
    long before = DirectMemory.settledBytes();
    long most = 0;
    try (ShardFilesWriter writer = writer(schema, options)) {
      int records = 0;
      for (; writer.writtenBytes() < 3 * options.stripeBytes(); records++) {
        for (int f = 0; f < fields; f++) {
          if (f < 300) {
            writer.column(f).putLong(records);
          } else {
            writer.column(f).putShort((short) records);
          }
        }
        writer.endRecord();
        most = Math.max(most, DirectMemory.usedBytes() - before);
      }
      ShardSummary shard = writer.seal();
      assertThat(most).isBetween(1L, options.stripeBytes());
      List<List<RunRecord>> runs = new ArrayList<>();
      for (int f = 0; f < fields; f++) {
        runs.add(runs(shard, schema, f));
      }
      for (int record = 0; record < records; record += records / 50) {
        // 8 MiB are 4 KiB a field, of which 250 are a MiB.
        assertThat(ranges(runs, record)).isLessThanOrEqualTo(4);
      }
    }
  }

  /** Returns the ranges of bytes that are the runs with a record. */
  private static int ranges(List<List<RunRecord>> runsOfFields, long record) {
    record Place(int chunk, long start, long end) {}
    List<Place> places = new ArrayList<>();
    for (List<RunRecord> runs : runsOfFields) {
      for (RunRecord run : runs) {
        if (record >= run.firstSlot() && record < run.firstSlot() + run.count()) {
          places.add(new Place(run.chunk(), run.offset(), run.offset() + run.bytes()));
        }
      }
    }
    assertThat(places).hasSameSizeAs(runsOfFields);
    places.sort(Comparator.comparingInt(Place::chunk).thenComparingLong(Place::start));
    int ranges = 1;
    for (int i = 1; i < places.size(); i++) {
      Place last = places.get(i - 1);
      boolean isNext =
          places.get(i).chunk() == last.chunk() && places.get(i).start() - last.end() < 8;
      ranges += isNext ? 0 : 1;
    }
    return ranges;
  }
}
