package io.zrecord.spark.job;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.io.UncheckedIOException;

/**
 * Converts objects to bytes and back, between a driver and its tasks. Messages travel by
 * {@code spark.serializer}, and Kryo can write neither records nor the collections of
 * {@code List.of}, but Kryo can write bytes. Stateless.
 */
public final class ObjectBytes {
  private ObjectBytes() {}

  public static byte[] of(Serializable object) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(object);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write a message of " + object.getClass(), e);
    }
    return bytes.toByteArray();
  }

  /**
   * Returns the object in the bytes.
   *
   * @throws IllegalStateException if another release wrote the bytes
   */
  public static <T> T read(byte[] bytes, Class<T> type) {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      @Override
      protected Class<?> resolveClass(java.io.ObjectStreamClass name)
          throws IOException, ClassNotFoundException {
        return Class.forName(name.getName(), false, ObjectBytes.class.getClassLoader());
      }
    }) {
      return type.cast(in.readObject());
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read a message of " + type, e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(
          "The tasks ran with another release of zrecord than the driver", e);
    }
  }
}
