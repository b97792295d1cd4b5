package io.zrecord.verify;

import io.zrecord.errors.FileErrors;
import io.zrecord.internal.io.LocalMutableFiles;
import io.zrecord.internal.io.MutableFile;
import io.zrecord.testing.ForwardingFile;
import io.zrecord.testing.ForwardingFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Real files, of which reads of some bytes fail as the operating system reports it. */
public final class BadSectors extends ForwardingFiles {
  private final String name;
  private final long from;
  private final long to;
  private final IOException error;

  /** Reads that touch the bytes {@code [from, to)} of a file fail. */
  public BadSectors(Path root, String name, long from, long to, IOException error) {
    super(new LocalMutableFiles(root));
    this.name = name;
    this.from = from;
    this.to = to;
    this.error = error;
  }

  /** Makes a medium that does not give these bytes any more. */
  public static BadSectors of(Path root, String name, long from, long to) {
    return new BadSectors(root, name, from, to, new IOException("Input/output error"));
  }

  @Override
  public MutableFile open(String opened, boolean writable) {
    MutableFile file = files.open(opened, writable);
    return opened.equals(name) ? new DamagedFile(file) : file;
  }

  private final class DamagedFile extends ForwardingFile {
    DamagedFile(MutableFile file) {
      super(file);
    }

    @Override
    public int read(long position, ByteBuffer target) {
      if (position < to && position + target.remaining() > from) {
        throw FileErrors.of("read", Path.of(path()), error);
      }
      return file.read(position, target);
    }
  }
}
