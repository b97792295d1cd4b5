package io.zrecord;

import io.zrecord.internal.online.LiveFieldReader;
import io.zrecord.internal.online.StoreView;
import io.zrecord.scan.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.List;

/** Gathers batches from a store, with readers that serve one batch after the other. Thread-safe. */
final class StoreBatches implements AutoCloseable {
  private final String location;
  private final RecordSchema schema;
  private final StoreView view;
  private volatile boolean isClosed;

  StoreBatches(String location, RecordSchema schema, StoreView view) {
    this.location = location;
    this.schema = schema;
    this.view = view;
  }

  long length() {
    return view.length();
  }

  Batch gather(long[] indices, String... fields) {
    if (isClosed) {
      throw new IllegalStateException("The store " + location + " is closed; open it again");
    }
    List<LiveFieldReader> readers = new ArrayList<>();
    if (fields.length == 0) {
      for (FieldSpec field : schema.fields()) {
        readers.add(view.takeReader(schema.ordinal(field.name())));
      }
    } else {
      for (String field : fields) {
        readers.add(view.takeReader(schema.ordinal(field)));
      }
    }
    view.select(indices, 0, indices.length, readers);
    return new Batch(
        location,
        indices.length,
        List.<FieldReader>copyOf(readers),
        () -> readers.forEach(view::giveBack));
  }

  /** Refuses new batches. Those that were handed out stay valid. */
  @Override
  public void close() {
    isClosed = true;
    view.close();
  }
}
