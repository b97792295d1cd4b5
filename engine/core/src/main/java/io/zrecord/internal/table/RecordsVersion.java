package io.zrecord.internal.table;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.internal.format.SealedJson;
import java.util.UUID;

/**
 * The newest version, up to some version, that may have changed records. Tags, expiries and repairs
 * change none.
 *
 * @param version its number
 * @param commitId the commit that published it
 */
public record RecordsVersion(long version, UUID commitId) {
  ObjectNode write() {
    return SealedJson.object().put("version", version).put("commit", commitId.toString());
  }

  static RecordsVersion read(JsonObject json) {
    return new RecordsVersion(json.integer("version", 0, Long.MAX_VALUE), json.uuid("commit"));
  }
}
