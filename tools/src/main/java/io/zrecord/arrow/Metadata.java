package io.zrecord.arrow;

import com.google.flatbuffers.FlatBufferBuilder;
import java.util.Map;
import org.apache.arrow.flatbuf.KeyValue;

/** Writes the key-value metadata of Arrow schemas, fields and messages. */
final class Metadata {
  private Metadata() {}

  static int[] pairs(FlatBufferBuilder builder, Map<String, String> metadata) {
    return metadata.entrySet().stream()
        .mapToInt(entry -> KeyValue.createKeyValue(
            builder, builder.createString(entry.getKey()), builder.createString(entry.getValue())))
        .toArray();
  }
}
