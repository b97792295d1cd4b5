package io.zrecord.storage.hadoop;

import io.zrecord.errors.StorageException;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.WeakHashMap;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tries whether a file system really publishes a name at most once: some stores ignore the
 * condition of a request, and say that they did as they were told. Each file system is tried once
 * in a process, at its first write. Thread-safe.
 */
final class PublicationProbe {
  private static final byte[] CONTENT =
      "A probe, which may be deleted.\n".getBytes(java.nio.charset.StandardCharsets.UTF_8);

  private static final Logger LOG = LoggerFactory.getLogger(HadoopStorage.class);

  private static final int ATTEMPTS = 5;

  private static final Map<FileSystem, Set<Publication>> PROVEN = new WeakHashMap<>();

  private PublicationProbe() {}

  /**
   * Publishes a name of its own twice. Deletes the file again; a sweep takes what is left.
   *
   * @param root of a dataset; the name is among those of its lists of shards
   * @throws StorageException if the second publication was not refused
   * @throws IOException if the file system does not answer
   */
  static void require(Publication way, FileSystem files, Path root) throws IOException {
    synchronized (PROVEN) {
      if (PROVEN.getOrDefault(files, Set.of()).contains(way)) {
        return;
      }
    }
    Path directory = new Path(root, "list");
    Path name = new Path(directory, UUID.randomUUID() + ".json");
    try {
      // A refusal may be the echo of the same request's success, and the name is taken then.
      publishFirst(way, files, name);
      if (way == Publication.CONDITIONAL_CREATE) {
        LOG.warn(
            "Trying once whether {} refuses a name that is taken, as it must. What S3A warns of now"
                + " is that refusal, and no failure",
            root);
      }
      if (way.publish(files, name, CONTENT)) {
        throw Publication.refused(
            root,
            "its store let two writers have the same name, " + name.getName() + ", so that"
                + " concurrent commits would be lost. Use a store that refuses the second ("
                + way.promise() + "), or write elsewhere; reading works");
      }
    } finally {
      clean(way, files, directory, name);
    }
    synchronized (PROVEN) {
      PROVEN.computeIfAbsent(files, key -> EnumSet.noneOf(Publication.class)).add(way);
    }
  }

  private static void publishFirst(Publication way, FileSystem files, Path name)
      throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        way.publish(files, name, CONTENT);
        return;
      } catch (FileNotFoundException e) {
        // The end of another probe may delete the directory before the file is in it.
        if (attempt == ATTEMPTS) {
          throw e;
        }
      }
    }
  }

  private static void clean(Publication way, FileSystem files, Path directory, Path name) {
    try {
      ManyDeletions.delete(files, directory, List.of(name));
      if (way != Publication.CONDITIONAL_CREATE) {
        // Not recursive: others may have files there.
        files.delete(directory, false);
      }
    } catch (IOException e) {
      // It is not empty, or a sweep finds the file.
    }
  }
}
