package io.zrecord.spark;

import io.zrecord.shard.ShardSummary;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.UncheckedIOException;
import java.util.Optional;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * What a task tells the driver: the shard that it wrote, if there were rows. Messages travel by {@code spark.serializer}, and Kryo can
 * write neither records nor the collections of {@code List.of}: so this is a plain class with bytes.
 */
final class WrittenShard implements WriterCommitMessage {
  private static final long serialVersionUID = 1L;

  private final byte[] summary;

  WrittenShard(Optional<ShardSummary> shard) {
    summary = shard.map(WrittenShard::write).orElseGet(() -> new byte[0]);
  }

  Optional<ShardSummary> shard() {
    return summary.length == 0 ? Optional.empty() : Optional.of(read(summary));
  }

  private static byte[] write(ShardSummary shard) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(shard);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write the message of shard " + shard.id(), e);
    }
    return bytes.toByteArray();
  }

  private static ShardSummary read(byte[] bytes) {
    try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes)) {
      @Override
      protected Class<?> resolveClass(java.io.ObjectStreamClass name)
          throws IOException, ClassNotFoundException {
        return Class.forName(name.getName(), false, WrittenShard.class.getClassLoader());
      }
    }) {
      return (ShardSummary) in.readObject();
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot read the message of a task", e);
    } catch (ClassNotFoundException e) {
      throw new IllegalStateException(
          "The tasks ran with another release of zrecord than the driver", e);
    }
  }
}
