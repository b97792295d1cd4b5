package io.zrecord.internal.table;

import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * What chains a version to the version before. Reading a link parses no shard of the manifest.
 *
 * @param tableId identity of the table
 * @param version number of the version
 * @param commitId the commit that published the version
 * @param previous the commit of the version before; empty for version 0
 * @param oldest the floor: versions below it were expired
 * @param records the newest version, up to this one, that may have changed records
 */
public record Link(
    UUID tableId,
    long version,
    UUID commitId,
    Optional<UUID> previous,
    long oldest,
    RecordsVersion records) {
  private static final Set<String> MEMBERS =
      Set.of("format", "table", "version", "commit", "previous", "oldest", "records");

  static Link of(Manifest manifest) {
    return new Link(
        manifest.tableId(),
        manifest.version(),
        manifest.commitId(),
        manifest.previous(),
        manifest.oldest(),
        manifest.records());
  }

  /**
   * Tells whether this is the version after another: it names its commit, and belongs to the same
   * table unless it begins one.
   */
  public boolean follows(Link before) {
    return version == before.version + 1
        && previous.equals(Optional.of(before.commitId))
        && (isBeginning() || tableId.equals(before.tableId));
  }

  /** Tells whether the version creates a table, or takes a creation back. */
  public boolean isBeginning() {
    return oldest == version;
  }

  static Link read(String resource, long expectedVersion, byte[] file) {
    JsonObject json = SealedJson.openMembers(resource, file, MEMBERS).requireFormat();
    ManifestRules.requireVersion(json, json.integer("version", 0, Long.MAX_VALUE), expectedVersion);
    Link link = new Link(
        json.uuid("table"),
        expectedVersion,
        json.uuid("commit"),
        json.optionalUuid("previous"),
        json.integer("oldest", 0, Long.MAX_VALUE),
        RecordsVersion.read(json.object("records")));
    ManifestRules.requireLink(json, expectedVersion, link);
    return link;
  }
}
