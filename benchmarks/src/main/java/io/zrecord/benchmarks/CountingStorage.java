package io.zrecord.benchmarks;

import io.zrecord.storage.ReadableFile;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.storage.WritableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Hands every call on to another storage and counts what is read, in regions of at most 8 MiB, as a
 * storage far away has them. Its location is like no other, so that no cache of the process knows
 * its files. For one thread.
 */
final class CountingStorage implements Storage {
  private static final int REGION_BYTES = 8 << 20;

  private final Storage storage;
  private final String location;
  private final List<String> requests = new ArrayList<>();
  private final List<Region> regions = new ArrayList<>();

  private long bytes;

  private record Region(String name, long from, long to) {}

  CountingStorage(Storage storage) {
    this.storage = storage;
    this.location = storage.location() + "#" + UUID.randomUUID();
  }

  /** Returns all requests until now. */
  List<String> requests() {
    return requests;
  }

  /** Returns the requests whose answers the reader needed before the next one could be made. */
  List<String> awaited() {
    return requests.stream().filter(request -> !request.startsWith("open ")).toList();
  }

  /** Returns how many bytes were read until now. */
  long bytes() {
    return bytes;
  }

  /** Returns the number of ranges read of files with a suffix. Regions that touch are one range. */
  long rangesOf(String suffix) {
    Map<String, TreeMap<Long, Long>> files = new TreeMap<>();
    for (Region region : regions) {
      if (region.name().endsWith(suffix)) {
        files
            .computeIfAbsent(region.name(), name -> new TreeMap<>())
            .merge(region.from(), region.to(), Long::max);
      }
    }
    long ranges = 0;
    for (TreeMap<Long, Long> file : files.values()) {
      long end = -1;
      for (Map.Entry<Long, Long> region : file.entrySet()) {
        if (region.getKey() > end) {
          ranges++;
        }
        end = Math.max(end, region.getValue());
      }
    }
    return ranges;
  }

  @Override
  public String location() {
    return location;
  }

  @Override
  public String pathOf(String name) {
    return storage.pathOf(name);
  }

  @Override
  public long usableBytes() {
    return storage.usableBytes();
  }

  @Override
  public boolean exists(String name) {
    requests.add("exists " + name);
    return storage.exists(name);
  }

  @Override
  public long lengthBytes(String name) {
    requests.add("length " + name);
    return storage.lengthBytes(name);
  }

  @Override
  public List<StoredFile> list(String directory) {
    requests.add("list " + directory);
    return storage.list(directory);
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    requests.add("read " + name);
    byte[] content = storage.read(name, maxBytes);
    bytes += content.length;
    return content;
  }

  @Override
  public ReadableFile open(String name) {
    requests.add("open " + name);
    ReadableFile file = storage.open(name);
    return new ReadableFile() {
      @Override
      public String path() {
        return file.path();
      }

      @Override
      public long lengthBytes() {
        return file.lengthBytes();
      }

      @Override
      public ByteBuffer region(long position, int lengthBytes) {
        requests.add("region " + name + " from " + position + ", " + lengthBytes + " bytes");
        regions.add(new Region(name, position, position + lengthBytes));
        bytes += lengthBytes;
        return file.region(position, lengthBytes);
      }

      @Override
      public int preferredRegionBytes() {
        return REGION_BYTES;
      }

      @Override
      public void close() {
        file.close();
      }
    };
  }

  @Override
  public WritableFile create(String name) {
    return storage.create(name);
  }

  @Override
  public boolean publish(String name, byte[] content) {
    return storage.publish(name, content);
  }

  @Override
  public void replace(String name, byte[] content) {
    storage.replace(name, content);
  }

  @Override
  public void forceDirectory(String directory) {
    storage.forceDirectory(directory);
  }

  @Override
  public void delete(String name) {
    storage.delete(name);
  }
}
