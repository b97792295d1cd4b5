package io.zrecord.cli;

import io.zrecord.errors.FileErrors;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/**
 * Opens channels to other processes that take direct buffers without a copy on the heap. Stateless.
 */
public final class LocalChannels {
  private LocalChannels() {}

  /** Returns the standard output of this process. */
  public static GatheringByteChannel standardOutput() {
    return new FileOutputStream(FileDescriptor.out).getChannel();
  }

  /**
   * Connects to a Unix socket on which another process listens.
   *
   * @throws io.zrecord.errors.StorageException if no process listens
   */
  public static GatheringByteChannel connect(Path socket) {
    try {
      return SocketChannel.open(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      throw FileErrors.of("connect to the socket", socket, e);
    }
  }

  /** Tells whether a write failed because the other process closed its end. */
  public static boolean isReaderGone(IOException e) {
    return FileErrors.mentions(e, "Broken pipe") || FileErrors.mentions(e, "Connection reset");
  }
}
