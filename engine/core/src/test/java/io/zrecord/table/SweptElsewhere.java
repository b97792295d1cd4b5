package io.zrecord.table;

import io.zrecord.storage.Storage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.Iterator;
import java.util.function.Consumer;

/** Sweeps as other processes do: what they get and give is serialized. */
record SweptElsewhere(Storage storage) implements SweepWorkers {
  @Override
  public void look(Iterator<SweepPart> parts, Consumer<SweepPart.Looked> looked) {
    parts.forEachRemaining(part ->
        looked.accept(sent(sent(part, SweepPart.class).look(storage), SweepPart.Looked.class)));
  }

  @Override
  public void delete(SweptFiles files) {
    files.parts(2).forEach(part -> sent(part, SweptFiles.class).delete(storage));
  }

  @Override
  public int deletedAtOnce() {
    return 1000;
  }

  private static <T extends Serializable> T sent(T object, Class<T> type) {
    try {
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
        out.writeObject(object);
      }
      return type.cast(
          new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(e);
    }
  }
}
