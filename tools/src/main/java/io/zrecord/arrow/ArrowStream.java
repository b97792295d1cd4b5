package io.zrecord.arrow;

import com.google.flatbuffers.FlatBufferBuilder;
import io.zrecord.feed.FeedBatch;
import io.zrecord.schema.FieldSpec;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.GatheringByteChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.arrow.flatbuf.Buffer;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;

/**
 * A stream of record batches with one column for each field. The first column, {@code _index}, has
 * the records' indices in the dataset, unless a field has that name. The metadata of each batch's
 * message are {@code zrecord.next} (the state to resume with after the batch),
 * {@code zrecord.epoch}, and {@code zrecord.batch} (the number of earlier batches in the training).
 * Belongs to one thread.
 */
public final class ArrowStream {
  private static final int CONTINUATION = -1;

  private final GatheringByteChannel out;
  private final List<ArrowColumn> columns = new ArrayList<>();
  private final boolean hasIndexColumn;

  /**
   * Begins a stream.
   *
   * @param out stays the caller's; writing waits until the reader has room
   * @param fields fields of the batches
   * @param padded names of the fields that a feed pads to one length
   * @param metadata metadata of the schema
   */
  public ArrowStream(
      GatheringByteChannel out,
      List<FieldSpec> fields,
      Set<String> padded,
      Map<String, String> metadata)
      throws IOException {
    this.out = out;
    fields.forEach(field -> columns.add(new ArrowColumn(field, padded.contains(field.name()))));
    this.hasIndexColumn =
        fields.stream().noneMatch(field -> field.name().equals(ArrowColumn.INDEX.name()));
    FlatBufferBuilder builder = new FlatBufferBuilder();
    List<Integer> offsets = new ArrayList<>();
    if (hasIndexColumn) {
      offsets.add(new ArrowColumn(ArrowColumn.INDEX, false).field(builder));
    }
    columns.forEach(column -> offsets.add(column.field(builder)));
    int vector = Schema.createFieldsVector(builder, ints(offsets));
    int pairs = Schema.createCustomMetadataVector(builder, Metadata.pairs(builder, metadata));
    Schema.startSchema(builder);
    Schema.addFields(builder, vector);
    Schema.addCustomMetadata(builder, pairs);
    write(builder, MessageHeader.Schema, Schema.endSchema(builder), Map.of(), new ArrowBody());
  }

  /** Writes a batch. The batch stays the caller's. */
  public void write(FeedBatch batch) throws IOException {
    ArrowBody body = new ArrowBody();
    if (hasIndexColumn) {
      body.addIndices(batch);
    }
    columns.forEach(column -> column.add(batch, body));
    FlatBufferBuilder builder = new FlatBufferBuilder();
    List<ArrowBody.Node> nodes = body.nodes();
    RecordBatch.startNodesVector(builder, nodes.size());
    for (int i = nodes.size() - 1; i >= 0; i--) {
      FieldNode.createFieldNode(builder, nodes.get(i).count(), nodes.get(i).nullCount());
    }
    int nodeVector = builder.endVector();
    List<ByteBuffer> buffers = body.buffers();
    long end = body.lengthBytes();
    RecordBatch.startBuffersVector(builder, buffers.size());
    for (int i = buffers.size() - 1; i >= 0; i--) {
      end -= ArrowBody.padded(buffers.get(i).remaining());
      Buffer.createBuffer(builder, end, buffers.get(i).remaining());
    }
    int bufferVector = builder.endVector();
    RecordBatch.startRecordBatch(builder);
    RecordBatch.addLength(builder, batch.count());
    RecordBatch.addNodes(builder, nodeVector);
    RecordBatch.addBuffers(builder, bufferVector);
    Map<String, String> metadata = Map.of(
        "zrecord.next", batch.next().toJson(),
        "zrecord.epoch", Long.toString(batch.epoch()),
        "zrecord.batch", Long.toString(batch.batch()));
    write(builder, MessageHeader.RecordBatch, RecordBatch.endRecordBatch(builder), metadata, body);
  }

  /** Ends the stream. */
  public void end() throws IOException {
    writeAll(ByteBuffer.allocate(2 * Integer.BYTES)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(0, CONTINUATION));
  }

  private void write(
      FlatBufferBuilder builder,
      byte type,
      int header,
      Map<String, String> metadata,
      ArrowBody body)
      throws IOException {
    int pairs = Message.createCustomMetadataVector(builder, Metadata.pairs(builder, metadata));
    Message.startMessage(builder);
    Message.addVersion(builder, MetadataVersion.V5);
    Message.addHeaderType(builder, type);
    Message.addHeader(builder, header);
    Message.addBodyLength(builder, body.lengthBytes());
    Message.addCustomMetadata(builder, pairs);
    Message.finishMessageBuffer(builder, Message.endMessage(builder));
    ByteBuffer message = builder.dataBuffer();
    int padded = (int) ArrowBody.padded(message.remaining());
    ByteBuffer head = ByteBuffer.allocate(2 * Integer.BYTES + padded)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(CONTINUATION)
        .putInt(padded)
        .put(message)
        .rewind();
    List<ByteBuffer> all = new ArrayList<>();
    all.add(head);
    for (ByteBuffer buffer : body.buffers()) {
      int gap = (int) ArrowBody.padded(buffer.remaining()) - buffer.remaining();
      all.add(buffer);
      all.add(ByteBuffer.allocate(gap));
    }
    writeAll(all.toArray(new ByteBuffer[0]));
  }

  private void writeAll(ByteBuffer... buffers) throws IOException {
    int first = 0;
    while (first < buffers.length) {
      if (buffers[first].hasRemaining()) {
        out.write(buffers, first, buffers.length - first);
      } else {
        first++;
      }
    }
  }

  private static int[] ints(List<Integer> offsets) {
    return offsets.stream().mapToInt(Integer::intValue).toArray();
  }
}
