package io.zrecord.storage.cache;

import io.zrecord.storage.ReadableFile;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Fills a part of a file from the cache, from requests of other readers that are under way, and
 * from own requests. Neighbouring blocks are one request. Holds no lock, and waits for others only
 * when its own requests are done, so that no two readers wait for each other. Belongs to one
 * thread.
 */
final class RegionRead {
  /** The longest region of a file has 2³⁰ bytes. */
  private static final int MOST_BLOCKS = (1 << 30) / BlockKey.BLOCK_BYTES;

  private final BlockCache cache;
  private final String location;
  private final String name;
  private final ReadableFile file;
  private final long position;
  private final byte[] target;
  private final List<Load> own = new ArrayList<>();
  private final List<Load> others = new ArrayList<>();

  /** A block that is being fetched. An empty result says that the block is in the cache. */
  private record Load(BlockKey key, CompletableFuture<Optional<ByteBuffer>> content) {}

  /**
   * Prepares a read.
   *
   * @param location of the file's storage
   * @param position of the target's first byte in the file
   */
  RegionRead(
      BlockCache cache,
      String location,
      String name,
      ReadableFile file,
      long position,
      byte[] target) {
    this.cache = cache;
    this.location = location;
    this.name = name;
    this.file = file;
    this.position = position;
    this.target = target;
  }

  /** Fills the target. What a request throws, the caller gets. */
  void run() {
    long last = (position + target.length - 1) / BlockKey.BLOCK_BYTES;
    try {
      for (long number = position / BlockKey.BLOCK_BYTES; number <= last; number++) {
        BlockKey key = new BlockKey(location, name, file.lengthBytes(), number);
        if (!isRead(key)) {
          claim(key);
        }
      }
      for (int from = 0; from < own.size(); ) {
        int to = endOfRun(from);
        fetch(own.subList(from, to));
        from = to;
      }
    } finally {
      own.forEach(this::end);
    }
    for (Load load : others) {
      await(load);
    }
  }

  private boolean isRead(BlockKey key) {
    ByteBuffer part = part(key);
    int from = (int) Math.max(0, position - key.position());
    return cache.blocks().read(key, from, part);
  }

  /** Returns the part of the target that a block fills. */
  private ByteBuffer part(BlockKey key) {
    long from = Math.max(position, key.position());
    long to = Math.min(position + target.length, key.position() + key.lengthBytes());
    return ByteBuffer.wrap(target, (int) (from - position), (int) (to - from));
  }

  private void claim(BlockKey key) {
    CompletableFuture<Optional<ByteBuffer>> mine = new CompletableFuture<>();
    CompletableFuture<Optional<ByteBuffer>> content = cache.requestOr(key, mine);
    Load load = new Load(key, content);
    if (content != mine) {
      others.add(load);
      return;
    }
    own.add(load);
    // Another request may have ended since this reader looked.
    if (isRead(key)) {
      own.remove(own.size() - 1);
      end(load);
    }
  }

  private int endOfRun(int from) {
    int to = from + 1;
    while (to < own.size()
        && to - from < MOST_BLOCKS
        && own.get(to).key().number() == own.get(to - 1).key().number() + 1) {
      to++;
    }
    return to;
  }

  private void fetch(List<Load> run) {
    BlockKey last = run.get(run.size() - 1).key();
    long start = run.get(0).key().position();
    int length = (int) (last.position() + last.lengthBytes() - start);
    cache.counters().addRequest(run.size(), length);
    ByteBuffer fetched = file.region(start, length);
    for (Load load : run) {
      ByteBuffer content = fetched.slice(
          fetched.position() + (int) (load.key().position() - start), load.key().lengthBytes());
      load.content().complete(Optional.of(content));
      copy(load.key(), content);
    }
    for (Load load : run) {
      load.content().join().ifPresent(content -> cache.blocks().write(load.key(), content));
      end(load);
    }
  }

  /** Ends a request. Whoever still waits looks into the cache, and asks the storage then. */
  private void end(Load load) {
    load.content().complete(Optional.empty());
    cache.endRequest(load.key(), load.content());
  }

  private void copy(BlockKey key, ByteBuffer content) {
    ByteBuffer part = part(key);
    int from = (int) Math.max(0, position - key.position());
    content.get(from, part.array(), part.arrayOffset() + part.position(), part.remaining());
  }

  private void await(Load load) {
    Optional<ByteBuffer> content = load.content().join();
    if (content.isPresent()) {
      cache.counters().addWait();
      copy(load.key(), content.get());
    } else if (!isRead(load.key())) {
      // The request of the other reader failed.
      fetch(List.of(new Load(load.key(), new CompletableFuture<>())));
    }
  }
}
