package io.zrecord;

import io.zrecord.errors.MissingFileException;
import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** Files in memory, to be damaged byte by byte. Read-only as a storage. */
record FileMapStorage(Map<String, byte[]> files) implements Storage {
  static FileMapStorage of(Path directory) throws IOException {
    Map<String, byte[]> files = new TreeMap<>();
    try (Stream<Path> paths = Files.walk(directory)) {
      for (Path path : paths.filter(Files::isRegularFile).toList()) {
        files.put(directory.relativize(path).toString(), Files.readAllBytes(path));
      }
    }
    return new FileMapStorage(files);
  }

  @Override
  public String location() {
    return "memory";
  }

  @Override
  public boolean exists(String name) {
    return files.containsKey(name);
  }

  @Override
  public long lengthBytes(String name) {
    return content(name).length;
  }

  @Override
  public List<StoredFile> list(String directory) {
    return files.keySet().stream()
        .filter(name -> directory.isEmpty() && !name.contains("/"))
        .map(name -> new StoredFile(name, false, lengthBytes(name), 0))
        .toList();
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    return content(name).clone();
  }

  @Override
  public ReadableFile open(String name) {
    byte[] content = content(name);
    return new ReadableFile() {
      @Override
      public String path() {
        return pathOf(name);
      }

      @Override
      public long lengthBytes() {
        return content.length;
      }

      @Override
      public ByteBuffer region(long position, int lengthBytes) {
        return ByteBuffer.wrap(content, (int) position, lengthBytes)
            .slice()
            .asReadOnlyBuffer()
            .order(ByteOrder.LITTLE_ENDIAN);
      }

      @Override
      public void close() {}
    };
  }

  private byte[] content(String name) {
    byte[] content = files.get(name);
    if (content == null) {
      throw new MissingFileException(name, "no file " + name);
    }
    return content;
  }

  @Override
  public WritableFile create(String name) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean publish(String name, byte[] content) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void replace(String name, byte[] content) {
    throw new UnsupportedOperationException();
  }

  @Override
  public void forceDirectory(String directory) {}

  @Override
  public void delete(String name) {
    files.remove(name);
  }
}
