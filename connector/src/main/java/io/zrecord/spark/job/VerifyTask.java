package io.zrecord.spark.job;

import io.zrecord.schema.RecordSchema;
import io.zrecord.spark.path.TableLocation;
import io.zrecord.verify.ShardVerification;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * Checks shards in tasks. The schemas travel with the task, once to each executor, because
 * attributes of fields may be large; the message of a shard says which schema is its own. Filled on
 * the driver, then immutable.
 */
final class VerifyTask implements Serializable {
  private static final long serialVersionUID = 1L;

  private final TableLocation table;
  private final ArrayList<RecordSchema> schemas = new ArrayList<>();

  VerifyTask(TableLocation table) {
    this.table = table;
  }

  /** The message about a shard to a task. */
  private record Message(int schema, ShardVerification shard) implements Serializable {}

  /** Returns the message about a shard. */
  byte[] message(ShardVerification shard, RecordSchema schema) {
    // Versions of a table have few schemas, and neighbours mostly have the same schema.
    int ordinal = schemas.lastIndexOf(schema);
    if (ordinal < 0) {
      ordinal = schemas.size();
      schemas.add(schema);
    }
    return ObjectBytes.of(new Message(ordinal, shard));
  }

  /** Checks the shard of a message. Keeps at most {@code most} findings. */
  ShardFindings check(byte[] bytes, int most) {
    Message message = ObjectBytes.read(bytes, Message.class);
    return ShardFindings.of(table.storage(), message.shard, schemas.get(message.schema), most);
  }

  /** Returns the schemas of all messages so far. */
  List<RecordSchema> schemas() {
    return List.copyOf(schemas);
  }
}
