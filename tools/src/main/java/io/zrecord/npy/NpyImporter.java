package io.zrecord.npy;

import io.zrecord.RecordDatasetWriter;
import io.zrecord.Storages;
import io.zrecord.errors.MissingFileException;
import io.zrecord.errors.SchemaMismatchException;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.local.LocalStorage;
import io.zrecord.table.TableSnapshot;
import io.zrecord.table.write.ShardWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Makes datasets of {@code .npy} files. The first axis counts the records, the other axes are the
 * shape of a value.
 *
 * <table>
 * <caption>What becomes of a dtype</caption>
 * <tr><td>bool, (u)int8 … (u)int64, float16, float32, float64</td><td>the same, of either byte order</td></tr>
 * <tr><td>complex64, complex128</td><td>{@code f32}, {@code f64} with a last dimension of 2: real, imaginary</td></tr>
 * <tr><td>S</td><td>{@code bytes}, without the NULs at the end, as NumPy shows them; one axis only</td></tr>
 * <tr><td>U</td><td>{@code utf8}, without the NULs at the end; one axis only</td></tr>
 * <tr><td>datetime64[s], [ms], [us]</td><td>{@code timestamp_ntz}; NaT is absent; one axis only</td></tr>
 * <tr><td>datetime64[D]</td><td>{@code date}; NaT is absent; one axis only</td></tr>
 * <tr><td>structured, object, void, longdouble, timedelta64, other datetime64</td><td>refused</td></tr>
 * </table>
 *
 * <p>Files are mapped and copied in blocks of up to 64 MiB, or one record if that is larger; arrays
 * in Fortran order are transposed block by block. Stateless.
 */
public final class NpyImporter {
  private static final long BLOCK_BYTES = 8 << 20;
  /**
   * Greatest size of a block. In Fortran order, each element of a block is one short run of the
   * file: the more records at once, the fewer page visits.
   */
  private static final long MAX_BLOCK_BYTES = 64 << 20;

  private static final int RECORDS_WANTED = 4096;

  private NpyImporter() {}

  /**
   * Makes a new dataset from one array.
   *
   * @param npy the file, which must not change meanwhile
   * @param dataset a location that is empty or does not exist: a local path, or a URI of a storage
   *     on the class path, such as {@code s3://bucket/train}; see {@link Storages}
   * @param field name of the field
   * @throws io.zrecord.errors.UnsupportedFormatException if arrays of this kind are refused
   * @throws io.zrecord.errors.CorruptDataException if the file is not an {@code .npy} file, or is
   *     damaged
   */
  public static TableSnapshot importFile(
      Path npy, String dataset, String field, WriteOptions options) {
    return importFiles(Map.of(field, npy), dataset, options);
  }

  /**
   * Makes a new dataset from arrays with the same number of records, such as images and their
   * labels.
   *
   * @param files the file of each field, in the order of the fields
   * @param dataset a location, as that of the other method
   * @throws SchemaMismatchException if the numbers of records differ
   */
  public static TableSnapshot importFiles(
      Map<String, Path> files, String dataset, WriteOptions options) {
    return importFiles(files, Storages.at(dataset), options);
  }

  /** Makes a new dataset at the root of a storage, as the other method does. */
  public static TableSnapshot importFiles(
      Map<String, Path> files, Storage dataset, WriteOptions options) {
    Map<String, NpyArray> arrays = new LinkedHashMap<>();
    List<FieldSpec> fields = new ArrayList<>();
    files.forEach((name, path) -> {
      NpyArray array = open(path);
      arrays.put(name, array);
      fields.add(array.field(fields.size() + 1, name));
    });
    long recordCount = requireSameCount(files, arrays, dataset);
    List<ItemWriter> writers = new ArrayList<>();
    arrays.forEach((name, array) ->
        writers.add(new ItemWriter(String.valueOf(files.get(name)), array, writers.size())));
    RecordSchema schema = new RecordSchema(fields);
    try (RecordDatasetWriter writer = RecordDatasetWriter.create(dataset, schema, options)) {
      copy(
          List.copyOf(arrays.values()),
          writers,
          recordCount,
          writer.newAppender().shard());
      return writer.commit();
    }
  }

  private static NpyArray open(Path npy) {
    Path real;
    try {
      real = npy.toRealPath();
    } catch (IOException e) {
      throw new MissingFileException(
          npy.toString(),
          "Cannot import " + npy + ": there is no such file, or it cannot be reached",
          e);
    }
    Path directory = real.getParent();
    if (directory == null || !Files.isRegularFile(real)) {
      throw new MissingFileException(
          npy.toString(), "Cannot import " + npy + ": it is not a file; name an .npy file");
    }
    // Mapped regions stay valid after the file is closed.
    try (ReadableFile file = LocalStorage.at(directory).open(String.valueOf(real.getFileName()))) {
      return NpyArray.open(file);
    }
  }

  private static long requireSameCount(
      Map<String, Path> files, Map<String, NpyArray> arrays, Storage dataset) {
    long[] counts =
        arrays.values().stream().mapToLong(NpyArray::recordCount).distinct().toArray();
    if (counts.length == 1) {
      return counts[0];
    }
    List<String> found = new ArrayList<>();
    arrays.forEach((name, array) ->
        found.add(array.recordCount() + " of '" + name + "' in " + files.get(name)));
    throw new SchemaMismatchException(
        dataset.location(),
        "Cannot import to " + dataset.location() + ": the numbers of records differ: "
            + String.join(", ", found) + "; give at least one array, all with the same first axis");
  }

  private static void copy(
      List<NpyArray> arrays, List<ItemWriter> writers, long recordCount, ShardWriter shard) {
    long recordBytes =
        Math.max(1, arrays.stream().mapToLong(NpyArray::recordBytes).sum());
    long budget = Math.max(BLOCK_BYTES, Math.min(MAX_BLOCK_BYTES, recordBytes * RECORDS_WANTED));
    int blockRecords = (int) Math.max(1, Math.min(recordCount, budget / recordBytes));
    byte[][] blocks = new byte[arrays.size()][];
    for (int a = 0; a < blocks.length; a++) {
      blocks[a] = new byte[Math.multiplyExact(blockRecords, arrays.get(a).recordBytes())];
    }
    for (long first = 0; first < recordCount; first += blockRecords) {
      int count = (int) Math.min(blockRecords, recordCount - first);
      for (int a = 0; a < blocks.length; a++) {
        arrays.get(a).read(first, count, blocks[a]);
      }
      for (int record = 0; record < count; record++) {
        for (int a = 0; a < blocks.length; a++) {
          writers.get(a).put(shard, blocks[a], record * arrays.get(a).recordBytes());
        }
        shard.endRecord();
      }
    }
  }
}
