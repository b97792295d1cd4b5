package io.zrecord.benchmarks.remote;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Makes the tables of the benchmarks, and stores them by plain requests: {@code binaries} of 8
 * shards, which stays on the local disk as well, {@code small} of as many shards of 64 records, and
 * {@code wide} of 100 shards of 27 fields. Argument: a work directory.
 */
public final class Preparation {
  /** Fields of the table {@code wide}: a text and numbers. */
  static final int FIELDS = 27;

  private static final int SHARDS = 8;
  private static final int SMALL_SHARD_RECORDS = 64;
  private static final int WIDE_SHARDS = 100;
  private static final int WIDE_SHARD_RECORDS = 1_000;
  private static final int CONNECTIONS = 8;
  private static final long PARTS_FROM_BYTES = 16 << 20;

  private final Path directory;
  private final PlainS3 server;

  private Preparation(Path directory, PlainS3 server) {
    this.directory = directory;
    this.server = server;
  }

  public static void main(String[] arguments) throws Exception {
    RemoteSite site = RemoteSite.ofEnvironment();
    try (PlainS3 server = new PlainS3(site)) {
      Preparation preparation =
          new Preparation(Files.createDirectories(Path.of(arguments[0])), server);
      preparation.binaries("binaries", site.records());
      preparation.binaries("small", (long) SHARDS * SMALL_SHARD_RECORDS);
      preparation.wide();
    }
  }

  private void binaries(String name, long records) throws Exception {
    Path path = directory.resolve(name);
    RecordSchema schema = RecordSchema.builder()
        .field("id", ElementType.I64)
        .field("bin", ElementType.BYTES)
        .build();
    if (!Files.exists(path)) {
      byte[] value = new byte[RemoteSite.VALUE_BYTES];
      Random random = new Random(1);
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.create(path.toString(), schema, options())) {
        for (int shard = 0; shard < SHARDS; shard++) {
          RecordAppender appender = writer.newAppender();
          for (long i = records * shard / SHARDS; i < records * (shard + 1) / SHARDS; i++) {
            random.nextBytes(value);
            appender.set("id", i).set("bin", value).endRecord();
          }
        }
        writer.commit();
      }
    }
    store(path, name);
  }

  private void wide() throws Exception {
    Path path = directory.resolve("wide");
    RecordSchema.Builder schema = RecordSchema.builder().field("text", ElementType.UTF8);
    for (int field = 1; field < FIELDS; field++) {
      schema.field("number " + field, ElementType.I64);
    }
    if (!Files.exists(path)) {
      try (RecordDatasetWriter writer =
          RecordDatasetWriter.create(path.toString(), schema.build(), options())) {
        for (int shard = 0; shard < WIDE_SHARDS; shard++) {
          RecordAppender records = writer.newAppender();
          for (int i = 0; i < WIDE_SHARD_RECORDS; i++) {
            records.set("text", "text " + i);
            for (int field = 1; field < FIELDS; field++) {
              records.set("number " + field, (long) field * i);
            }
            records.endRecord();
          }
        }
        writer.commit();
      }
    }
    store(path, "wide");
  }

  private static WriteOptions options() {
    return WriteOptions.defaults().withDurability(Durability.NONE);
  }

  private void store(Path table, String prefix) throws IOException, InterruptedException {
    List<Runnable> small = new ArrayList<>();
    try (var walk = Files.walk(table)) {
      for (Path file : walk.filter(Files::isRegularFile).toList()) {
        String key = prefix + "/" + table.relativize(file);
        if (Files.size(file) < PARTS_FROM_BYTES) {
          small.add(() -> server.put(file, key));
        } else {
          String below = key.substring(0, key.lastIndexOf('/') + 1);
          server.put(List.of(file), below, CONNECTIONS);
        }
      }
    }
    PlainS3.inParallel(CONNECTIONS, small);
  }
}
