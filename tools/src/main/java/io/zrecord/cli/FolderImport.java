package io.zrecord.cli;

import io.zrecord.RecordAppender;
import io.zrecord.RecordDatasetWriter;
import io.zrecord.Storages;
import io.zrecord.cli.console.DatasetLocation;
import io.zrecord.cli.console.Progress;
import io.zrecord.schema.ElementType;
import io.zrecord.schema.RecordSchema;
import io.zrecord.shard.WriteOptions;
import io.zrecord.table.TableSnapshot;
import java.io.File;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.List;
import java.util.stream.Stream;

/** Makes a table from the files below a directory. Belongs to one thread. */
final class FolderImport {
  private static final RecordSchema SCHEMA = RecordSchema.builder()
      .field("path", ElementType.UTF8)
      .field("content", ElementType.BYTES)
      .build();

  private final Path directory;
  private long totalBytes;
  private long contentBytes;
  private long skippedCount;

  FolderImport(Path directory) {
    this.directory = directory;
  }

  /** Returns the total length of the imported files in bytes. */
  long contentBytes() {
    return contentBytes;
  }

  /** Returns the number of entries that were neither a file nor a directory. */
  long skippedCount() {
    return skippedCount;
  }

  TableSnapshot to(DatasetLocation dataset, WriteOptions layout, Progress progress)
      throws IOException {
    if (!Files.isDirectory(directory)) {
      throw new IllegalArgumentException(
          "Cannot import " + directory + ": it is not a directory; name a directory of files");
    }
    Path folder = directory.toAbsolutePath().normalize();
    if (Storages.localPath(dataset.toString())
        .map(path -> path.toAbsolutePath().normalize())
        .filter(path -> path.startsWith(folder))
        .isPresent()) {
      throw new IllegalArgumentException("Cannot import " + directory + " to " + dataset
          + ": the dataset would be among the files; choose a directory outside");
    }
    totalBytes = bytesBelow();
    try (RecordDatasetWriter writer =
        RecordDatasetWriter.create(dataset.storage(), SCHEMA, layout)) {
      RecordAppender records = writer.newAppender();
      append(directory, records, progress);
      return writer.commit();
    }
  }

  private long bytesBelow() throws IOException {
    long[] bytes = {0};
    Files.walkFileTree(directory, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
        return FileVisitResult.CONTINUE;
      }
    });
    return bytes[0];
  }

  /** Appends a folder. The names of one directory at each level are in memory. */
  private void append(Path folder, RecordAppender records, Progress progress) throws IOException {
    List<Path> children;
    try (Stream<Path> listed = Files.list(folder)) {
      children = listed.sorted().toList();
    }
    for (Path child : children) {
      if (Files.isDirectory(child, LinkOption.NOFOLLOW_LINKS)) {
        append(child, records, progress);
      } else if (Files.isRegularFile(child, LinkOption.NOFOLLOW_LINKS)) {
        byte[] content = InputFiles.read(child);
        records.set("path", nameOf(child)).set("content", content).endRecord();
        contentBytes += content.length;
        progress.at(contentBytes, Math.max(totalBytes, contentBytes));
      } else {
        skippedCount++;
      }
    }
  }

  private String nameOf(Path file) {
    return directory.relativize(file).toString().replace(File.separatorChar, '/');
  }
}
