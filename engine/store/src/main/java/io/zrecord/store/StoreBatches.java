package io.zrecord.store;

import io.zrecord.Batch;
import io.zrecord.internal.store.read.LiveFieldReader;
import io.zrecord.internal.store.read.StoreView;
import io.zrecord.read.FieldReader;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/**
 * Gathers batches from a store, with readers that serve one batch after the other. After a rewrite
 * of the store, new batches come from another view of it; batches that were handed out keep their
 * view. Thread-safe.
 */
final class StoreBatches implements AutoCloseable {
  private final String location;
  private final UnaryOperator<StoreView> viewAfter;
  private volatile Opened opened;
  private volatile boolean isClosed;

  private record Opened(StoreView view, RecordSchema schema) {
    static Opened of(StoreView view) {
      return new Opened(view, new RecordSchema(view.parts().fields()));
    }
  }

  /**
   * Starts with a view of a store.
   *
   * @param viewAfter gives the view that follows a view which a rewrite retired
   */
  StoreBatches(String location, StoreView view, UnaryOperator<StoreView> viewAfter) {
    this.location = location;
    this.viewAfter = viewAfter;
    this.opened = Opened.of(view);
  }

  /** Returns the fields; a rewrite may change their compressions. */
  RecordSchema schema() {
    return opened.schema();
  }

  long length() {
    Opened current = opened;
    while (current.view().isSucceeded()) {
      current = after(current);
    }
    return current.view().length();
  }

  Batch gather(long[] indices, String... fields) {
    for (Opened current = opened; ; current = after(current)) {
      requireOpen();
      StoreView view = current.view();
      List<LiveFieldReader> readers = takeReaders(current, fields);
      if (view.select(indices, 0, indices.length, readers)) {
        return new Batch(
            location,
            indices.length,
            List.<FieldReader>copyOf(readers),
            () -> readers.forEach(view::giveBack));
      }
    }
  }

  private static List<LiveFieldReader> takeReaders(Opened current, String... fields) {
    List<LiveFieldReader> readers = new ArrayList<>();
    if (fields.length == 0) {
      for (FieldSpec field : current.schema().fields()) {
        readers.add(current.view().takeReader(current.schema().ordinal(field.name())));
      }
    } else {
      for (String field : fields) {
        readers.add(current.view().takeReader(current.schema().ordinal(field)));
      }
    }
    return readers;
  }

  private synchronized Opened after(Opened retired) {
    requireOpen();
    if (opened.equals(retired)) {
      opened = Opened.of(viewAfter.apply(retired.view()));
      retired.view().close();
    }
    return opened;
  }

  private void requireOpen() {
    if (isClosed) {
      throw new IllegalStateException("The store " + location + " is closed; open it again");
    }
  }

  /** Refuses new batches. Batches that were handed out stay valid. */
  @Override
  public synchronized void close() {
    isClosed = true;
    opened.view().close();
  }
}
