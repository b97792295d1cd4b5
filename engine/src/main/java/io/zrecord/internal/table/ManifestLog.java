package io.zrecord.internal.table;

import io.zrecord.errors.CommitOutcomeUnknownException;
import io.zrecord.errors.ZRecordException;
import io.zrecord.internal.format.SealedJson;
import io.zrecord.storage.Storage;
import io.zrecord.storage.StoredFile;
import io.zrecord.table.ShardSummary;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The manifests of a table: which there are, reading one, publishing the next. Thread-safe. */
public final class ManifestLog {
  private static final String DIRECTORY = "manifest";
  private static final Pattern NAME = Pattern.compile("(\\d{20})\\.json");

  private final Storage storage;

  public ManifestLog(Storage storage) {
    this.storage = storage;
  }

  /** Versions present, oldest first. */
  public List<Long> versions() {
    List<Long> versions = new ArrayList<>();
    for (StoredFile file : storage.list(DIRECTORY)) {
      Matcher matcher = NAME.matcher(file.name());
      if (matcher.matches() && matcher.group(1).compareTo("09223372036854775807") <= 0) {
        versions.add(Long.parseLong(matcher.group(1)));
      }
    }
    versions.sort(null);
    return versions;
  }

  public Manifest read(long version) {
    String name = nameOf(version);
    return Manifest.read(storage.pathOf(name), version, storage.read(name, SealedJson.MAX_BYTES));
  }

  /** The newest version, if there is one. */
  public Optional<Manifest> newest() {
    List<Long> versions = versions();
    return versions.isEmpty()
        ? Optional.empty()
        : Optional.of(read(versions.get(versions.size() - 1)));
  }

  /** All shards of a version, those of its lists included. */
  public List<ShardSummary> shards(Manifest manifest) {
    List<ShardSummary> shards = new ArrayList<>();
    for (ShardList list : manifest.lists()) {
      shards.addAll(list.readFile(
          storage.pathOf(list.file()), storage.read(list.file(), SealedJson.MAX_BYTES)));
    }
    shards.addAll(manifest.shards());
    return shards;
  }

  /** Writes shards to lists of their own; they belong to a version as soon as a manifest names them. */
  List<ShardList> writeLists(List<ShardSummary> shards) {
    List<ShardList> lists = new ArrayList<>();
    for (int from = 0; from < shards.size(); from += ShardList.MAX_SHARDS) {
      List<ShardSummary> part =
          shards.subList(from, Math.min(shards.size(), from + ShardList.MAX_SHARDS));
      String name = "list/" + UUID.randomUUID() + ".json";
      storage.publish(name, ShardList.writeFile(part));
      lists.add(new ShardList(
          name, part.size(), part.stream().mapToLong(ShardSummary::length).sum()));
    }
    return lists;
  }

  /**
   * Publishes a version.
   *
   * @return whether it is ours: {@code false} if another commit has this version
   * @throws CommitOutcomeUnknownException if that cannot be found out
   */
  boolean publish(Manifest manifest) {
    String name = nameOf(manifest.version());
    try {
      return storage.publish(name, manifest.write());
    } catch (CommitOutcomeUnknownException e) {
      return readBack(manifest, e);
    }
  }

  /** A response was lost: what stands there now tells whether we won. */
  private boolean readBack(Manifest manifest, CommitOutcomeUnknownException cause) {
    try {
      return read(manifest.version()).commitId().equals(manifest.commitId());
    } catch (ZRecordException e) {
      cause.addSuppressed(e);
      throw cause;
    }
  }

  private static String nameOf(long version) {
    return DIRECTORY + "/" + String.format(Locale.ROOT, "%020d", version) + ".json";
  }
}
