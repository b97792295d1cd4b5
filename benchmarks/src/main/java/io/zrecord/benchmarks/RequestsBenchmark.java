package io.zrecord.benchmarks;

import io.zrecord.Batch;
import io.zrecord.RecordAppender;
import io.zrecord.RecordDataset;
import io.zrecord.RecordDataset.ReadOptions;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.Durability;
import io.zrecord.shard.ShardSummary;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.RecordTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Counts the files of a shard of 27 fields, and the requests from opening its table to one value,
 * with nothing in memory. Argument: a work directory.
 */
public final class RequestsBenchmark {
  private static final int FIELDS = 27;
  private static final int RECORDS = Effort.of(100_000);

  private RequestsBenchmark() {}

  public static void main(String[] arguments) throws IOException {
    Path path = Files.createDirectories(Path.of(arguments[0])).resolve("requests");
    Workplace.delete(path);
    write(path);
    countFiles(path);
    countRequests(path, "number 7");
    countRequests(path, "text");
    Workplace.delete(path);
  }

  private static void write(Path path) {
    RecordSchema.Builder schema = RecordSchema.builder().field("text", ElementType.UTF8);
    for (int field = 1; field < FIELDS; field++) {
      schema.field("number " + field, ElementType.I64);
    }
    WriteOptions options = WriteOptions.defaults().withDurability(Durability.NONE);
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(path.toString(), schema.build(), options)) {
      RecordAppender records = writer.newAppender();
      for (int i = 0; i < RECORDS; i++) {
        records.set("text", "text " + i);
        for (int field = 1; field < FIELDS; field++) {
          records.set("number " + field, (long) field * i);
        }
        records.endRecord();
      }
      writer.commit();
    }
  }

  private static void countFiles(Path path) throws IOException {
    ShardSummary shard = RecordTable.at(LocalStorage.at(path)).latest().shards().get(0);
    try (var walk = Files.walk(path.resolve(shard.directory()))) {
      List<Path> files = walk.filter(Files::isRegularFile).toList();
      long chunks =
          files.stream().filter(file -> file.toString().endsWith(".zr")).count();
      Figure.atMost("Files of a shard of " + FIELDS + " fields", files.size(), 2.0 + chunks);
    }
  }

  private static void countRequests(Path path, String field) {
    CountingStorage storage = new CountingStorage(LocalStorage.at(path));
    try (RecordDataset dataset =
            RecordDataset.open(RecordTable.at(storage).latest(), ReadOptions.defaults());
        Batch batch = dataset.gather(new long[] {RECORDS / 2}, field)) {
      System.out.printf("%nThe first value of %s, %d bytes:%n", field, batch.lengthBytes(field, 0));
      batch.bytes(field, 0);
    }
    storage.requests().forEach(request -> System.out.println("- " + request));
    Figure.atMost("Requests", storage.requests().size(), 7);
    Figure.atMost("Requests one after the other", storage.awaited().size(), 5);
  }
}
