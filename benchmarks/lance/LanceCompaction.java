package io.zrecord.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
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
 * Compacts a Lance dataset as RebalanceBenchmark rebalances a table, in the same run: fragments of 8
 * MiB become fragments of 1 GiB. Compiled and started by benchmarks/run with the case "lance".
 * 10 GiB for each of the two widths. It needs three times as much space. Argument: a work
 * directory.
 */
final class LanceCompaction {
  private static final long FRAGMENT_BYTES = 8 << 20;
  private static final long TARGET_BYTES = 1L << 30;
  private static final Schema SCHEMA = new Schema(List.of(
      Field.notNullable("id", new ArrowType.Int(64, true)), Field.notNullable("data", new ArrowType.Binary())));

  private LanceCompaction() {}

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

  public static void main(String[] arguments) throws IOException {
    Path work = Files.createDirectories(Path.of(arguments[0]));
    long totalBytes = Effort.of(10L << 30);
    for (int width : new int[] {4 << 10, 64 << 10}) {
      measure(work.resolve("lance-" + width), width, totalBytes);
    }
  }

  private static void measure(Path work, int width, long totalBytes) throws IOException {
    Workplace.delete(work);
    Path source = Files.createDirectories(work).resolve("source");
    write(source, width, totalBytes / width);
    RebalanceBenchmark table = new RebalanceBenchmark(work, width, totalBytes);
    Contest contest = new Contest(table.title(), 1, 3);
    table.addTo(contest);
    contest.add("cp of Lance's files", table::clear, () -> table.copy(source));
    contest.add("cp of Lance's files and sync", table::clear, () -> {
      table.copy(source);
      Workplace.run("sync");
    });
    for (CompactionMode mode : new CompactionMode[] {CompactionMode.REENCODE, CompactionMode.TRY_BINARY_COPY}) {
      contest.add("Lance, " + mode, () -> table.prepare(source), () -> compact(table.target(), width, mode));
      contest.add("Lance, " + mode + ", and sync", () -> table.prepare(source), () -> {
        compact(table.target(), width, mode);
        Workplace.run("sync");
      });
    }
    contest.run();
    Workplace.delete(work);
  }

  private static void write(Path path, int width, long records) {
    try (BufferAllocator allocator = new RootAllocator();
        Records written = new Records(allocator, width, records)) {
      Dataset.write()
          .allocator(allocator)
          .reader(written)
          .uri(path.toString())
          .maxRowsPerFile((int) (FRAGMENT_BYTES / width))
          .maxRowsPerGroup((int) (FRAGMENT_BYTES / width))
          .execute()
          .close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void compact(Path path, int width, CompactionMode mode) {
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
        // In 7.0.0 the options of a planned task have the mode as a string, which makes the task fail.
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
    } catch (InterruptedException | ExecutionException e) {
      throw new IllegalStateException(e);
    } finally {
      threads.shutdown();
    }
  }
}
