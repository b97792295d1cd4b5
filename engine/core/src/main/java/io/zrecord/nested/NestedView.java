package io.zrecord.nested;

import io.zrecord.schema.NestedType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Checks and views nested values of one type without a copy, one value at a time.
 *
 * <pre>{@code
 * NestedView view = new NestedView(field.type().requireTree());
 * NestedArray list = view.read(path, reader.view(i));
 * NestedArray elements = list.child(0);
 * for (int k = list.start(0); k < list.end(0); k++) {
 *   elements.isAbsent(k) …
 * }
 * }</pre>
 *
 * <p>Belongs to one thread.
 */
public final class NestedView {
  private final int bufferCount;
  private final NestedArray root;

  public NestedView(NestedType type) {
    this.bufferCount = NestedArray.rootBufferCount(type);
    this.root = new NestedArray(type, false);
  }

  /**
   * Checks a value and returns it, as the only value of an array that is never absent. All arrays
   * of the view change. They stay valid until the next value is read, as long as the bytes do.
   *
   * @param resource the dataset or the file, for messages
   * @param value the bytes from the buffer's position to its limit, both of which stay
   * @throws io.zrecord.errors.CorruptDataException if the bytes are no value of the type; the view
   *     is then empty
   */
  public NestedArray read(String resource, ByteBuffer value) {
    root.clear();
    boolean fits = value.order() == ByteOrder.LITTLE_ENDIAN && value.position() == 0;
    ByteBuffer bytes = fits ? value : value.slice().order(ByteOrder.LITTLE_ENDIAN);
    boolean isRead = false;
    try {
      NestedBuffers buffers = new NestedBuffers(resource, bytes, bufferCount);
      root.readRoot(buffers, buffers.elements());
      buffers.requireEnd();
      isRead = true;
      return root;
    } finally {
      if (!isRead) {
        root.clear();
      }
    }
  }
}
