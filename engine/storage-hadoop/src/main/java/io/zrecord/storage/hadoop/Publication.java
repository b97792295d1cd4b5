package io.zrecord.storage.hadoop;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.StorageException;
import java.io.IOException;
import java.util.Locale;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileAlreadyExistsException;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hdfs.DistributedFileSystem;

/**
 * Ways to publish a small file under a name that must not exist, whole and at most once. The scheme
 * does not determine the way: the file system is asked, or the user says.
 */
enum Publication {
  /** A temporary file is renamed, which fails if the name exists: one call of the name node. */
  RENAME {
    @Override
    String promise() {
      return "a rename must never replace a file";
    }

    @Override
    boolean publish(FileSystem files, Path file, byte[] content) throws IOException {
      Path temporary =
          new Path(file.getParent(), "." + file.getName() + "." + UUID.randomUUID() + ".tmp");
      try {
        writeTemporary(files, temporary, content);
        return rename(files, temporary, file);
      } finally {
        deleteQuietly(files, temporary);
      }
    }

    private void writeTemporary(FileSystem files, Path temporary, byte[] content)
        throws IOException {
      try {
        // Nobody else has the name: what is there is of an earlier try, whose answer was lost.
        write(files.create(temporary, true), content, true);
      } catch (IOException e) {
        // Other failures may be transient, so the caller retries.
        throw HadoopErrors.isRefusal(e) ? new NotPublishedException(e) : e;
      }
    }

    private boolean rename(FileSystem files, Path temporary, Path file) throws IOException {
      try {
        if (files instanceof DistributedFileSystem hdfs) {
          hdfs.rename(temporary, file, Options.Rename.NONE);
          return true;
        }
        if (files.rename(temporary, file)) {
          return true;
        }
      } catch (IOException e) {
        // ABFS reports every conflict as a file that exists, also those that have nothing to do
        // with the name.
        if (files instanceof DistributedFileSystem && e instanceof FileAlreadyExistsException) {
          return false;
        }
        requireTaken(files, file, e);
        return false;
      }
      requireTaken(
          files,
          file,
          new IOException(
              "The file system refused to rename " + temporary + " and gave no reason"));
      return false;
    }
  },

  /** The file is created, which fails if the name exists, and is visible when it is whole. */
  CREATE {
    @Override
    String promise() {
      return "a file that is created without overwriting must appear whole and once";
    }

    /** Publishes uninterrupted: Google's stream would end at what it has, and publish a part. */
    @Override
    boolean publish(FileSystem files, Path file, byte[] content) throws IOException {
      return Uninterrupted.call(() -> create(files, file, content));
    }

    private boolean create(FileSystem files, Path file, byte[] content) throws IOException {
      try {
        write(files.create(file, false), content, false);
        return true;
      } catch (FileAlreadyExistsException e) {
        return false;
      } catch (IOException e) {
        // So Google's stream refuses a name that was taken meanwhile.
        requireTaken(files, file, e);
        return false;
      }
    }
  },

  /** The request that ends the file has a condition, which the store enforces. */
  CONDITIONAL_CREATE {
    @Override
    String promise() {
      return "a PUT with If-None-Match: * must never replace an object";
    }

    @Override
    boolean publish(FileSystem files, Path file, byte[] content) throws IOException {
      FSDataOutputStreamBuilder<?, ?> builder = files.createFile(file).overwrite(false);
      builder.must(CONDITIONAL_CAPABILITY, "true");
      FSDataOutputStream stream = builder.build();
      try {
        write(stream, content, false);
        return true;
      } catch (IOException e) {
        requireTaken(files, file, e);
        return false;
      }
    }
  };

  /** Says that a file was certainly not published: that was denied, or the space is used up. */
  static final class NotPublishedException extends IOException {
    private static final long serialVersionUID = 1L;

    private final IOException reason;

    NotPublishedException(IOException reason) {
      super(reason);
      this.reason = reason;
    }

    IOException reason() {
      return reason;
    }
  }

  /** The setting by which a user names the way of a file system that is not known. */
  static final String SETTING = "zrecord.publish";

  private static final String CONDITIONAL_CAPABILITY = "fs.option.create.conditional.overwrite";

  /**
   * Only accounts with a hierarchical namespace have such lists. The capability to keep ETags in a
   * rename says the same, but ABFS of Hadoop 3.3.4 says of every account that it has that.
   */
  private static final String ACCESS_CONTROL_LISTS = "fs.capability.paths.acls";

  /** Returns what a file system must keep, for messages. */
  abstract String promise();

  /**
   * Publishes a file. Returns {@code false} if the name is taken.
   *
   * @throws NotPublishedException if it is certain that the file was not published, and that
   *     another try would not help
   * @throws IOException if the file may or may not have been published
   */
  abstract boolean publish(FileSystem files, Path file, byte[] content) throws IOException;

  /**
   * Returns the way of a file system.
   *
   * @throws StorageException if there is none; the message says what to do
   */
  static Publication of(FileSystem files, Path root, Configuration settings) throws IOException {
    String named = settings.getTrimmed(SETTING, "");
    if (!named.isEmpty()) {
      return parse(named);
    }
    String scheme = files.getUri().getScheme().toLowerCase(Locale.ROOT);
    return switch (scheme) {
      case "hdfs" -> RENAME;
      case "gs" -> CREATE;
      case "abfs", "abfss" -> {
        if (!files.hasPathCapability(root, ACCESS_CONTROL_LISTS)) {
          throw refused(
              root,
              "its account has no hierarchical namespace, without which a rename is not atomic;"
                  + " use an account that has");
        }
        yield RENAME;
      }
      case "s3a" -> {
        if (!files.hasPathCapability(root, CONDITIONAL_CAPABILITY)) {
          throw refused(
              root,
              "this S3A cannot write on a condition, which needs Hadoop 3.4.2 or later (Spark 4.1)"
                  + " and fs.s3a.create.conditional.enabled=true; reading works");
        }
        yield CONDITIONAL_CREATE;
      }
      default ->
        throw refused(
            root,
            "it is not known how the file system '" + scheme + "' publishes a file at most once; if"
                + " you know, say so with the setting " + SETTING + ": 'rename', for which "
                + RENAME.promise() + ", or 'create', for which " + CREATE.promise());
    };
  }

  private static Publication parse(String named) {
    return switch (named.toLowerCase(Locale.ROOT)) {
      case "rename" -> RENAME;
      case "create" -> CREATE;
      default ->
        throw new IllegalArgumentException(
            "Setting " + SETTING + " is '" + named + "'; use 'rename' or 'create'");
    };
  }

  static StorageException refused(Path root, String why) {
    return new StorageException(root.toString(), "Cannot write to " + root + ": " + why);
  }

  /**
   * Looks after a failure whether the name is taken. The failure may be the echo of the same
   * request's first success, whose answer was lost: the caller reads back who took the name.
   *
   * @throws IOException the failure, if the name is free: the request may still take effect
   */
  private static void requireTaken(FileSystem files, Path file, IOException failure)
      throws IOException {
    if (!files.exists(file)) {
      throw failure;
    }
  }

  private static void write(FSDataOutputStream stream, byte[] content, boolean isForced)
      throws IOException {
    boolean isWritten = false;
    try {
      stream.write(content);
      if (isForced && stream.hasCapability("hsync")) {
        stream.hsync();
      }
      isWritten = true;
    } finally {
      if (!isWritten) {
        abort(stream);
      }
    }
    stream.close();
  }

  /** Gives a stream up. Closing it instead could publish a part of the file. */
  private static void abort(FSDataOutputStream stream) {
    try {
      stream.abort();
    } catch (UnsupportedOperationException e) {
      // The stream stays open, and its bytes are nowhere.
    }
  }

  private static void deleteQuietly(FileSystem files, Path temporary) {
    try {
      files.delete(temporary, false);
    } catch (IOException e) {
      // Every reader ignores the name of a leftover.
    }
  }

  /** Returns the exception for a publication that may or may not have taken effect. */
  static CommitOutcomeUnknownException unknown(
      Configuration settings, Path file, IOException cause) {
    return new CommitOutcomeUnknownException(
        file.toString(),
        "Cannot tell whether " + file + " was published: " + HadoopErrors.reason(cause, settings)
            + ". Delete nothing; look whether the file exists when the file system answers again",
        Redaction.cause(cause, settings));
  }
}
