package io.zrecord.internal.io;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.GatheringByteChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;

/** Ways to another process that take direct buffers without copying them on the heap. Stateless. */
public final class LocalChannels {
  private LocalChannels() {}

  /** The standard output of this process. */
  public static GatheringByteChannel standardOutput() {
    return new FileOutputStream(FileDescriptor.out).getChannel();
  }

  /**
   * Connects to a Unix socket on which another process listens.
   *
   * @throws io.zrecord.errors.StorageException if nobody does
   */
  public static GatheringByteChannel connect(Path socket) {
    try {
      return SocketChannel.open(UnixDomainSocketAddress.of(socket));
    } catch (IOException e) {
      throw FileErrors.of("connect to the socket", socket, e);
    }
  }

  /** Whether writing failed because the other process has closed its end. */
  public static boolean isReaderGone(IOException e) {
    return FileErrors.mentions(e, "Broken pipe") || FileErrors.mentions(e, "Connection reset");
  }
}
