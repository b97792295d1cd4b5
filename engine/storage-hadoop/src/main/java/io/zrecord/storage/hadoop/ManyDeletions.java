package io.zrecord.storage.hadoop;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.jspecify.annotations.Nullable;

/**
 * Deletes many files: with a request for each page of names where the file system has such a
 * request (S3A since Hadoop 3.4.1), and with several requests at once elsewhere. Stateless.
 */
final class ManyDeletions {
  private static final int THREADS = 16;

  /** The calls of bulk deletion, which the oldest Hadoop does not have; null there. */
  private static final @Nullable Bulk BULK = Bulk.find();

  private ManyDeletions() {}

  /**
   * Deletes files below a directory. A file that does not exist is no failure.
   *
   * @throws IOException if one cannot be deleted; others may be gone then
   */
  static void delete(FileSystem files, Path directory, List<Path> names) throws IOException {
    if (names.isEmpty()) {
      return;
    }
    if (BULK == null || !BULK.delete(files, directory, names)) {
      deleteAtOnce(files, names);
    }
  }

  private static void deleteAtOnce(FileSystem files, List<Path> names) throws IOException {
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(THREADS, names.size()));
    try {
      List<Callable<Boolean>> deletions = new ArrayList<>();
      for (Path name : names) {
        deletions.add(() -> files.delete(name, false));
      }
      for (Future<Boolean> deletion : threads.invokeAll(deletions)) {
        deletion.get();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw (IOException) new InterruptedIOException("The deletion was interrupted").initCause(e);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof IOException failure ? failure : new IOException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }

  /**
   * The calls of {@code org.apache.hadoop.fs.BulkDelete}.
   *
   * @param create of a file system and a directory
   * @param pageSize of what was created
   * @param delete of what was created and paths
   */
  private record Bulk(MethodHandle create, MethodHandle pageSize, MethodHandle delete) {

    static @Nullable Bulk find() {
      try {
        MethodHandles.Lookup lookup = MethodHandles.publicLookup();
        Class<?> type = Class.forName(
            "org.apache.hadoop.fs.BulkDelete", false, FileSystem.class.getClassLoader());
        return new Bulk(
            lookup.findVirtual(
                FileSystem.class, "createBulkDelete", MethodType.methodType(type, Path.class)),
            lookup.findVirtual(type, "pageSize", MethodType.methodType(int.class)),
            lookup.findVirtual(
                type, "bulkDelete", MethodType.methodType(List.class, Collection.class)));
      } catch (ReflectiveOperationException e) {
        return null;
      }
    }

    /** Deletes files. Returns {@code false}, without an effect, where a page is one name. */
    boolean delete(FileSystem files, Path directory, List<Path> names) throws IOException {
      try (Closeable deletion = (Closeable) create.invoke(files, directory)) {
        int page = (int) pageSize.invoke(deletion);
        if (page == 1) {
          return false;
        }
        for (int from = 0; from < names.size(); from += page) {
          List<?> failures = (List<?>)
              delete.invoke(deletion, names.subList(from, Math.min(names.size(), from + page)));
          if (!failures.isEmpty() && failures.get(0) instanceof Map.Entry<?, ?> failure) {
            throw new IOException("The store did not delete " + failures.size()
                + " of the files, the first of them " + failure.getKey() + ": "
                + failure.getValue());
          }
        }
        return true;
      } catch (UnsupportedOperationException e) {
        return false;
      } catch (IOException | RuntimeException | Error e) {
        throw e;
      } catch (Throwable e) {
        throw new IOException(e);
      }
    }
  }
}
