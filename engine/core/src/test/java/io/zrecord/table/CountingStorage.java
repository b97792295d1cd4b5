package io.zrecord.table;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.testing.ForwardingStorage;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Notes which files are read or published as a whole, which directories are listed, which files are
 * asked for, and how many bytes are published or replaced.
 */
final class CountingStorage extends ForwardingStorage {
  final List<String> read = Collections.synchronizedList(new ArrayList<>());
  final List<String> listed = Collections.synchronizedList(new ArrayList<>());
  final List<String> found = Collections.synchronizedList(new ArrayList<>());
  final List<String> published = Collections.synchronizedList(new ArrayList<>());
  private final AtomicLong written;

  CountingStorage(Storage storage, AtomicLong written) {
    super(storage);
    this.written = written;
  }

  @Override
  public byte[] read(String name, int maxBytes) {
    read.add(name);
    return super.read(name, maxBytes);
  }

  @Override
  public List<StoredFile> list(String directory) {
    listed.add(directory);
    return super.list(directory);
  }

  @Override
  public Optional<StoredFile> find(String name) {
    found.add(name);
    return super.find(name);
  }

  @Override
  public boolean publish(String name, byte[] content) {
    published.add(name);
    written.addAndGet(content.length);
    return super.publish(name, content);
  }

  @Override
  public void replace(String name, byte[] content) {
    written.addAndGet(content.length);
    super.replace(name, content);
  }
}
