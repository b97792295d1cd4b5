package io.zrecord.arrow;

import io.zrecord.feed.FeedBatch;
import io.zrecord.nested.NestedColumn;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * The content of a record batch: the nodes and buffers of its columns, in the order of the schema.
 * Belongs to one thread.
 */
final class ArrowBody {
  private static final int ALIGNMENT_BYTES = 8;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final List<Node> nodes = new ArrayList<>();
  private final List<ByteBuffer> buffers = new ArrayList<>();
  private long lengthBytes;

  /**
   * A column, or the elements of a column.
   *
   * @param count number of values
   * @param nullCount number of absent values
   */
  record Node(long count, long nullCount) {}

  List<Node> nodes() {
    return nodes;
  }

  List<ByteBuffer> buffers() {
    return buffers;
  }

  long lengthBytes() {
    return lengthBytes;
  }

  void addIndices(FeedBatch batch) {
    addNode(batch.count());
    ByteBuffer bytes = allocate((long) batch.count() * Long.BYTES);
    bytes.asLongBuffer().put(batch.indices());
    addBuffer(bytes);
  }

  /** Adds a node without absent values, and its empty validity bitmap. */
  void addNode(long count) {
    nodes.add(new Node(count, 0));
    addBuffer(NOTHING.duplicate());
  }

  /** Adds the node of a field, and its validity bitmap. */
  void addNode(FeedBatch batch, String field) {
    if (!batch.hasAbsent(field)) {
      addNode(batch.count());
      return;
    }
    ByteBuffer bits = allocate((batch.count() + 7) / 8);
    int absent = 0;
    for (int i = 0; i < batch.count(); i++) {
      if (batch.isAbsent(field, i)) {
        absent++;
      } else {
        bits.put(i >> 3, (byte) (bits.get(i >> 3) | 1 << (i & 7)));
      }
    }
    nodes.add(new Node(batch.count(), absent));
    addBuffer(bits);
  }

  /** Adds the node of a column of nested values, and its validity bitmap. */
  void addNode(NestedColumn column) {
    if (column.absentCount() == 0) {
      addNode(column.count());
      return;
    }
    ByteBuffer bits = allocate((column.count() + 7L) / 8);
    for (int i = 0; i < column.count(); i++) {
      if (!column.isAbsent(i)) {
        bits.put(i >> 3, (byte) (bits.get(i >> 3) | 1 << (i & 7)));
      }
    }
    nodes.add(new Node(column.count(), column.absentCount()));
    addBuffer(bits);
  }

  void addBuffer(ByteBuffer buffer) {
    buffers.add(buffer);
    lengthBytes += padded(buffer.remaining());
  }

  static ByteBuffer allocate(long bytes) {
    return ByteBuffer.allocate(Math.toIntExact(bytes)).order(ByteOrder.LITTLE_ENDIAN);
  }

  static long padded(long bytes) {
    return (bytes + ALIGNMENT_BYTES - 1) / ALIGNMENT_BYTES * ALIGNMENT_BYTES;
  }
}
