package io.zrecord.internal.table;

import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * What chains a version to the version before. Reading a link parses no shard of the manifest.
 *
 * @param commitId the commit that published the version
 * @param previous the commit of the version before; empty for version 0
 * @param oldest the floor: versions below it were expired
 * @param records the newest version, up to this one, that may have changed records
 */
public record Link(UUID commitId, Optional<UUID> previous, long oldest, RecordsVersion records) {
  private static final Set<String> MEMBERS =
      Set.of("format", "version", "commit", "previous", "oldest", "records");

  static Link read(String resource, long expectedVersion, byte[] file) {
    JsonObject json = SealedJson.openMembers(resource, file, MEMBERS).requireFormat();
    ManifestRules.requireVersion(json, json.integer("version", 0, Long.MAX_VALUE), expectedVersion);
    Link link = new Link(
        json.uuid("commit"),
        json.optionalUuid("previous"),
        json.integer("oldest", 0, Long.MAX_VALUE),
        RecordsVersion.read(json.object("records")));
    ManifestRules.requireLink(json, expectedVersion, link);
    return link;
  }
}
