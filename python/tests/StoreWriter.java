import io.zrecord.store.RecordStore;
import io.zrecord.store.StoreDurability;
import io.zrecord.store.StoreOptions;
import io.zrecord.schema.Compression;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.schema.Shape;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/** Commits generations to a store until it is killed: every commit gives all records the next number, and changes how many there are. */
final class StoreWriter {
  private static final long PAUSE_NANOS = 3_000_000;

  private StoreWriter() {}

  public static void main(String[] arguments) {
    RecordSchema schema = RecordSchema.builder()
        .field("number", ElementType.I64)
        .field("text", ElementType.UTF8, Shape.scalar(), Compression.parse("flate"))
        .build();
    // So few bytes that checkpoints come in between.
    StoreOptions options = StoreOptions.defaults()
        .withDurability(StoreDurability.COMMIT)
        .withCheckpointBytes(1 << 20);
    try (RecordStore store = RecordStore.create(Path.of(arguments[0]), schema, options)) {
      long length = 0;
      for (long generation = 0; ; generation++) {
        long wanted = 100 + generation % 7;
        while (length > wanted) {
          store.delete(0);
          length--;
        }
        String text = Long.toString(generation).repeat(50);
        for (long i = 0; i < wanted; i++) {
          var values = store.newValues().set("number", generation).set("text", text);
          if (i < length) {
            store.update(i, values);
          } else {
            store.append(values);
          }
        }
        length = wanted;
        store.commit();
        // Readers give up when each of their attempts meets a checkpoint.
        LockSupport.parkNanos(PAUSE_NANOS);
        if (generation == 0) {
          System.out.println("ready");
        }
      }
    }
  }
}
