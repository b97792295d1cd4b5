package io.zrecord.verify;

import io.zrecord.findings.Finding.Kind;
import io.zrecord.internal.format.ManifestNames;
import io.zrecord.internal.format.TagNames;
import io.zrecord.internal.table.LeftOfStore;
import io.zrecord.internal.verify.CheckRun;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Looks for files that no version of a table names: files of failed or unfinished writes, and of
 * expired versions.
 */
final class OrphanSearch {
  private final CheckRun run;
  private final Storage storage;

  OrphanSearch(CheckRun run, Storage storage) {
    this.run = run;
    this.storage = storage;
  }

  /**
   * Looks for them.
   *
   * @param namedShards files of each shard that a version names, by the shard's id
   */
  void search(
      Map<String, Set<String>> namedShards, Set<String> namedLists, Set<String> namedTagFiles) {
    if (storage.isRemote()) {
      searchTree(namedShards);
    } else {
      searchDirectories(namedShards);
      searchLeftOfStore();
    }
    for (StoredFile file : storage.list("list")) {
      if (!namedLists.contains("list/" + file.name())) {
        report("list/" + file.name(), "no version names it", file.lengthBytes());
      }
    }
    for (StoredFile file : storage.list(TagNames.DIRECTORY)) {
      String name = TagNames.DIRECTORY + "/" + file.name();
      if (!namedTagFiles.contains(name)) {
        report(name, "no tag names it", bytesOf(TagNames.DIRECTORY, file));
      }
    }
    for (StoredFile file : storage.list(ManifestNames.DIRECTORY)) {
      String name = ManifestNames.DIRECTORY + "/" + file.name();
      if (ManifestNames.version(file.name()).isEmpty() && !name.equals(ManifestNames.HINT)) {
        report(name, "it is not a manifest", file.lengthBytes());
      }
    }
  }

  private void searchDirectories(Map<String, Set<String>> namedShards) {
    for (StoredFile file : storage.list("shard")) {
      Set<String> namedFiles = namedShards.get(file.name());
      if (namedFiles == null) {
        report("shard/" + file.name(), "no version names it", bytesOf("shard", file));
      } else {
        searchShard("shard/" + file.name(), namedFiles);
      }
    }
  }

  /** Looks for what a store left that became this table. */
  private void searchLeftOfStore() {
    List<StoredFile> left = new ArrayList<>(LeftOfStore.single(storage));
    left.addAll(LeftOfStore.files(storage));
    for (StoredFile file : left) {
      run.found(
          Kind.ORPHAN,
          storage.pathOf(file.name()),
          "it is left of the store that became this table (" + bytesOf("", file)
              + " bytes); a sweep deletes it");
    }
  }

  /** Looks for them in one list of all files, because a list of each shard would be a request. */
  private void searchTree(Map<String, Set<String>> namedShards) {
    Map<String, Long> orphanBytes = new TreeMap<>();
    for (StoredFile file : storage.listTree("shard")) {
      int slash = file.name().indexOf('/');
      String first = slash < 0 ? file.name() : file.name().substring(0, slash);
      Set<String> namedFiles = namedShards.get(first);
      if (namedFiles == null) {
        orphanBytes.merge(first, file.lengthBytes(), Long::sum);
      } else if (!namedFiles.contains(file.name().substring(slash + 1))) {
        report("shard/" + file.name(), "no version names it", file.lengthBytes());
      }
    }
    orphanBytes.forEach((first, bytes) -> report("shard/" + first, "no version names it", bytes));
  }

  /** Looks for files of a change of fields or records that was not committed. */
  private void searchShard(String directory, Set<String> namedFiles) {
    for (StoredFile file : storage.list(directory)) {
      if (!namedFiles.contains(file.name())) {
        report(directory + "/" + file.name(), "no version names it", bytesOf(directory, file));
      }
    }
  }

  private void report(String name, String reason, long bytes) {
    run.found(
        Kind.ORPHAN,
        storage.pathOf(name),
        reason + " (" + bytes + " bytes); a write that goes on may still commit it");
  }

  private long bytesOf(String directory, StoredFile file) {
    if (!file.isDirectory()) {
      return file.lengthBytes();
    }
    String below = directory.isEmpty() ? file.name() : directory + "/" + file.name();
    return storage.list(below).stream()
        .mapToLong(child -> bytesOf(below, child))
        .sum();
  }
}
