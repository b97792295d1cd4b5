import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowReader;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.Schema;
import org.lance.Dataset;
import org.lance.compaction.Compaction;
import org.lance.compaction.CompactionMode;
import org.lance.compaction.CompactionOptions;
import org.lance.compaction.CompactionPlan;
import org.lance.compaction.CompactionTask;
import org.lance.compaction.RewriteResult;

/**
 * What RebalanceBenchmark does to a table, done to a Lance dataset by its compaction: fragments of 8 MiB become some of 1 GiB, beside {@code
 * cp}. Started by benchmarks/run with the case "lance". Arguments: a work directory, and the size in percent of 10 GiB.
 */
final class LanceCompaction {
  private static final int ROUNDS = 3;
  private static final long FRAGMENT_BYTES = 8 << 20;
  private static final long TARGET_BYTES = 1L << 30;
  private static final Schema SCHEMA = new Schema(List.of(
      Field.notNullable("id", new ArrowType.Int(64, true)), Field.notNullable("data", new ArrowType.Binary())));

  private LanceCompaction() {}

  /** Writes and deletes are not counted. */
  private interface Work {
    void run() throws Exception;
  }

  /** Records that are made while they are written. */
  private static final class Records extends ArrowReader {
    private final int width;
    private final long count;
    private final int batch;
    private final byte[] noise;
    private long next;

    Records(BufferAllocator allocator, int width, long count) {
      super(allocator);
      this.width = width;
      this.count = count;
      this.batch = (int) (FRAGMENT_BYTES / width);
      this.noise = new byte[width + 4096];
      new Random(width).nextBytes(noise);
    }

    @Override
    public boolean loadNextBatch() throws IOException {
      VectorSchemaRoot root = getVectorSchemaRoot();
      int rows = (int) Math.min(batch, count - next);
      if (rows <= 0) {
        return false;
      }
      BigIntVector id = (BigIntVector) root.getVector("id");
      VarBinaryVector data = (VarBinaryVector) root.getVector("data");
      id.allocateNew(rows);
      data.allocateNew((long) rows * width, rows);
      for (int i = 0; i < rows; i++, next++) {
        id.set(i, next);
        data.set(i, noise, (int) (next % 4096), width);
      }
      root.setRowCount(rows);
      return true;
    }

    @Override
    public long bytesRead() {
      return next * width;
    }

    @Override
    protected void closeReadSource() {}

    @Override
    protected Schema readSchema() {
      return SCHEMA;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Path work = Files.createDirectories(Path.of(arguments[0]));
    long totalBytes = (10L << 30) / 100 * Integer.parseInt(arguments[1]);
    for (int width : new int[] {4 << 10, 64 << 10}) {
      measure(work.resolve("lance-" + width), width, totalBytes / width);
    }
  }

  private static void measure(Path work, int width, long records) throws Exception {
    run("rm", "-rf", work.toString());
    Path source = Files.createDirectories(work).resolve("source");
    try (BufferAllocator allocator = new RootAllocator();
        Records written = new Records(allocator, width, records)) {
      Dataset.write()
          .allocator(allocator)
          .reader(written)
          .uri(source.toString())
          .maxRowsPerFile((int) (FRAGMENT_BYTES / width))
          .maxRowsPerGroup((int) (FRAGMENT_BYTES / width))
          .execute()
          .close();
    }
    Path target = work.resolve("target");
    String[] names = {"Lance, re-encoded", "Lance, binary copy", "cp", "Lance, binary copy, and sync", "cp and sync"};
    Work[] contestants = {
      () -> compact(target, width, CompactionMode.REENCODE),
      () -> compact(target, width, CompactionMode.TRY_BINARY_COPY),
      () -> run("cp", "-r", source.toString(), target.toString()),
      () -> {
        compact(target, width, CompactionMode.TRY_BINARY_COPY);
        run("sync");
      },
      () -> {
        run("cp", "-r", source.toString(), target.toString());
        run("sync");
      }
    };
    double[][] seconds = new double[names.length][ROUNDS];
    for (int round = -1; round < ROUNDS; round++) {
      for (int i = 0; i < names.length; i++) {
        run("rm", "-rf", target.toString());
        run("sync");
        if (names[i].startsWith("Lance")) {
          run("cp", "-al", source.toString(), target.toString());
        }
        long start = System.nanoTime();
        contestants[i].run();
        if (round >= 0) {
          seconds[i][round] = (System.nanoTime() - start) / 1e9;
        }
      }
    }
    System.out.printf("%n| %d MiB of %d KiB values | median (s) |%n|---|---|%n", records * width >> 20, width / 1024);
    for (int i = 0; i < names.length; i++) {
      Arrays.sort(seconds[i]);
      System.out.printf(Locale.ROOT, "| %s | %.2f |%n", names[i], seconds[i][ROUNDS / 2]);
    }
    run("rm", "-rf", work.toString());
  }

  private static void compact(Path path, int width, CompactionMode mode) throws Exception {
    CompactionOptions options = CompactionOptions.builder()
        .withTargetRowsPerFragment(TARGET_BYTES / width)
        .withCompactionMode(mode)
        .build();
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (BufferAllocator allocator = new RootAllocator();
        Dataset dataset = Dataset.open(path.toString(), allocator)) {
      CompactionPlan plan = Compaction.planCompaction(dataset, options);
      List<Callable<RewriteResult>> tasks = new ArrayList<>();
      for (CompactionTask planned : plan.getCompactionTasks()) {
        // In 7.0.0 the options of a planned task have the mode as a string, at which it fails.
        CompactionTask task = new CompactionTask(planned.getTaskData(), plan.getReadVersion(), options);
        tasks.add(() -> task.execute(dataset));
      }
      List<RewriteResult> results = new ArrayList<>();
      for (Future<RewriteResult> done : threads.invokeAll(tasks)) {
        results.add(done.get());
      }
      if (Compaction.commitCompaction(dataset, results, options).getFragmentsAdded() == 0) {
        throw new IllegalStateException("Nothing was compacted");
      }
    } finally {
      threads.shutdown();
    }
  }

  private static void run(String... command) throws IOException, InterruptedException {
    if (new ProcessBuilder(command).inheritIO().start().waitFor() != 0) {
      throw new IllegalStateException(List.of(command) + " failed");
    }
  }
}
