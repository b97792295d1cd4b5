package io.zrecord.table;

import io.zrecord.Spi;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A part of a {@linkplain RecordTable#sweep sweep}: directories to look into. Another process may
 * look. Immutable.
 */
@Spi
public final class SweepPart implements Serializable {
  private static final long serialVersionUID = 1L;

  private final SweptTable table;
  private final String directory;
  private final long limitMillis;
  private final List<Entry> entries;

  /**
   * What a directory has.
   *
   * @param namedFiles names of files below, relative to this, which versions name; null if no
   *     version names a file below
   */
  record Entry(
      String name,
      boolean isDirectory,
      long lengthBytes,
      long modifiedMillis,
      @Nullable List<String> namedFiles)
      implements Serializable {}

  /** Files that no version names. */
  record Unnamed(String name, FoundFiles files) implements Serializable {}

  /** What was seen. Immutable. */
  public static final class Looked implements Serializable {
    private static final long serialVersionUID = 1L;

    private final ArrayList<Unnamed> old = new ArrayList<>();
    private FoundFiles young = FoundFiles.NONE;

    private Looked() {}

    /** Returns what no version names and is old enough to be deleted. */
    List<Unnamed> old() {
      return old;
    }

    /** Returns what no version names and is younger. */
    FoundFiles young() {
      return young;
    }
  }

  /** @param limitMillis Unix time; what was changed since is young */
  SweepPart(SweptTable table, String directory, long limitMillis, List<Entry> entries) {
    this.table = table;
    this.directory = directory;
    this.limitMillis = limitMillis;
    this.entries = List.copyOf(entries);
  }

  /**
   * Looks for files that no version names. Deletes nothing.
   *
   * @throws io.zrecord.errors.StorageException if the storage does not have the table, as where a
   *     file system is not mounted
   */
  public Looked look(Storage storage) {
    table.require(storage);
    Looked looked = lookHere(storage);
    table.require(storage);
    return looked;
  }

  /** Looks in the process that sweeps, which sees the table. */
  Looked lookHere(Storage storage) {
    Looked looked = new Looked();
    for (Entry entry : entries) {
      String name = directory + "/" + entry.name;
      if (entry.namedFiles == null) {
        StoredFile file =
            new StoredFile(entry.name, entry.isDirectory, entry.lengthBytes, entry.modifiedMillis);
        add(looked, name, FoundFiles.below(storage, name, file));
      } else {
        lookInside(
            looked, storage, name, "", new HashSet<>(entry.namedFiles), entry.modifiedMillis);
      }
    }
    return looked;
  }

  private void lookInside(
      Looked looked,
      Storage storage,
      String shard,
      String below,
      Set<String> namedFiles,
      long directoryMillis) {
    for (StoredFile child : storage.list(below.isEmpty() ? shard : shard + "/" + below)) {
      String relative = below.isEmpty() ? child.name() : below + "/" + child.name();
      if (child.isDirectory()) {
        lookInside(looked, storage, shard, relative, namedFiles, child.modifiedMillis());
      } else if (!namedFiles.contains(relative)) {
        FoundFiles file = FoundFiles.of(child).plus(new FoundFiles(0, 0, directoryMillis));
        add(looked, shard + "/" + relative, file);
      }
    }
  }

  private void add(Looked looked, String name, FoundFiles files) {
    if (files.modifiedMillis() < limitMillis) {
      looked.old.add(new Unnamed(name, files));
    } else {
      looked.young = looked.young.plus(files);
    }
  }
}
