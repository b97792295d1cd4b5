import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Writes a file of images and a file of i64 labels to a table. Arguments: TABLE IMAGES LABELS SHAPE
 * RECORDS SHARDS.
 */
final class WriteShards {
  private WriteShards() {}

  public static void main(String[] arguments) throws Exception {
    String[] dimensions = arguments[3].split(",");
    int[] shape = new int[dimensions.length];
    int width = 1;
    for (int i = 0; i < shape.length; i++) {
      shape[i] = Integer.parseInt(dimensions[i]);
      width *= shape[i];
    }
    long records = Long.parseLong(arguments[4]);
    int shards = Integer.parseInt(arguments[5]);
    RecordSchema schema = RecordSchema.builder()
        .field("data", ElementType.U8, Shape.of(shape), Compression.RAW)
        .field("label", ElementType.I64)
        .build();
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    byte[] image = new byte[width];
    byte[] label = new byte[8];
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(arguments[0], schema, options);
        DataInputStream images = open(arguments[1]);
        DataInputStream labels = open(arguments[2])) {
      for (int shard = 0; shard < shards; shard++) {
        RecordAppender appender = writer.newAppender();
        for (long i = records * shard / shards; i < records * (shard + 1) / shards; i++) {
          images.readFully(image);
          labels.readFully(label);
          appender.set("data", image).set("label", label).endRecord();
        }
      }
      writer.commit();
    }
  }

  private static DataInputStream open(String file) throws Exception {
    InputStream in = Files.newInputStream(Path.of(file));
    return new DataInputStream(new BufferedInputStream(in, 1 << 20));
  }
}
