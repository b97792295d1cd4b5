package io.zrecord.examples;

import io.zrecord.Batch;
import io.zrecord.RecordDataset;
import io.zrecord.npy.NpyImporter;
import io.zrecord.shard.WriteOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Makes a dataset from an array that NumPy saved, without Spark. Arguments: a path where nothing
 * exists yet, and a {@code .npy} file. Without a file, the example writes an array of 1,000 vectors
 * of 16 numbers itself.
 */
public final class ImportNpy {
  private static final int RECORDS = 1000;
  private static final int WIDTH = 16;

  private ImportNpy() {}

  public static void main(String[] args) throws IOException {
    Path dataset = Path.of(args[0]);
    boolean isGiven = args.length > 1;
    Path npy = isGiven ? Path.of(args[1]) : vectors(Path.of(args[0] + ".npy"));

    NpyImporter.importFile(npy, dataset.toString(), "vector", WriteOptions.defaults());

    try (RecordDataset records = RecordDataset.open(dataset.toString())) {
      System.out.println(records.length() + " records of " + records.schema().fields());
      if (!isGiven) {
        try (Batch batch = records.gather(new long[] {500})) {
          Check.equal("vector[500][3]", 500.03f, batch.value("vector", 0).getFloat(3 * 4));
        }
      }
    }
  }

  /**
   * Writes what {@code numpy.save} writes of {@code [[0.00, 0.01, …], [1.00, 1.01, …], …]} as
   * float32.
   */
  private static Path vectors(Path path) throws IOException {
    String header =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }".formatted(RECORDS, WIDTH);
    int headerBytes = 128 - 10;
    ByteBuffer file = ByteBuffer.allocate(128 + RECORDS * WIDTH * 4).order(ByteOrder.LITTLE_ENDIAN);
    file.put((byte) 0x93).put("NUMPY".getBytes(StandardCharsets.US_ASCII));
    file.put((byte) 1).put((byte) 0).putShort((short) headerBytes);
    file.put((header + " ".repeat(headerBytes - 1 - header.length()) + "\n")
        .getBytes(StandardCharsets.US_ASCII));
    for (int record = 0; record < RECORDS; record++) {
      for (int i = 0; i < WIDTH; i++) {
        file.putFloat(record + i / 100f);
      }
    }
    return Files.write(path, file.array());
  }
}
