package io.zrecord.internal.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigInteger;
import java.util.function.Consumer;

/** Manifests of {@code golden/v2-identity} whose identities were forged. */
final class ForgedIdentities {
  private static final BigInteger BEYOND_64_BITS = BigInteger.ONE.shiftLeft(63);

  private final ForgedDeclarations.Forging forging;

  private ForgedIdentities(ForgedDeclarations.Forging forging) {
    this.forging = forging;
  }

  static void forge(ForgedDeclarations.Forging forging) {
    ForgedIdentities forged = new ForgedIdentities(forging);
    forged.members();
    forged.numbers();
    forged.fields();
  }

  private static ArrayNode identities(JsonNode manifest) {
    return (ArrayNode) manifest.get("declarations").get("identities");
  }

  /** Goes up from 10 by steps of 3. */
  private static ObjectNode up(JsonNode manifest) {
    return (ObjectNode) identities(manifest).get(0);
  }

  /** Goes down from -9,000,000,000 by steps of 1. */
  private static ObjectNode down(JsonNode manifest) {
    return (ObjectNode) identities(manifest).get(1);
  }

  private static ObjectNode field(JsonNode manifest, int i) {
    return (ObjectNode) manifest.get("fields").get(i);
  }

  private void sound(String name, Consumer<ObjectNode> change) {
    forging.forge("identity-" + name, true, change);
  }

  private void damage(String name, Consumer<ObjectNode> change) {
    forging.forge("identity-" + name, false, change);
  }

  private void members() {
    sound("control", json -> {});
    sound("with-a-later-member", json -> up(json).put("cycle", 1.5));
    sound("that-says-no", json -> up(json).put("explicit", false));
    damage("that-is-none", json -> identities(json).add("none"));
    damage("without-a-sequence", json -> up(json).remove("sequence"));
    damage("of-a-sequence-by-name", json -> up(json).put("sequence", "one"));
    damage("without-a-start", json -> up(json).remove("start"));
    damage("without-a-step", json -> up(json).remove("step"));
    damage("without-a-next", json -> up(json).remove("next"));
    damage("explicit-by-1", json -> up(json).put("explicit", 1));
    damage("twice", json -> identities(json).add(up(json).deepCopy()));
    damage("without-its-feature", json -> json.remove("features"));
    damage(
        "with-another-feature",
        json -> ((ArrayNode) json.get("features").get("write")).set(0, "enforced-checks"));
  }

  private void numbers() {
    sound("at-its-start", json -> up(json).put("next", 10));
    sound("at-the-end", json -> up(json).put("next", Long.MAX_VALUE));
    sound("over-all", json -> down(json).put("start", Long.MAX_VALUE).put("next", Long.MIN_VALUE));
    sound(
        "of-the-longest-step",
        json -> down(json).put("start", 0).put("step", Long.MIN_VALUE).put("next", Long.MIN_VALUE));
    damage("of-no-step", json -> up(json).put("step", 0));
    damage("before-its-start", json -> up(json).put("next", 7));
    damage("before-its-start-down", json -> down(json).put("next", -8_999_999_999L));
    damage("between-steps", json -> up(json).put("next", 11));
    damage(
        "between-steps-of-all",
        json ->
            up(json).put("start", Long.MIN_VALUE).put("next", Long.MAX_VALUE).put("step", 2));
    damage("beyond-64-bits", json -> up(json).put("next", BEYOND_64_BITS));
    damage("of-a-fraction", json -> up(json).put("next", 10.5));
  }

  private void fields() {
    damage("of-field-0", json -> up(json).put("field", 0));
    damage("of-a-field-by-name", json -> up(json).put("field", "id"));
    damage("of-a-field-to-come", json -> up(json).put("field", 9));
    damage("of-text", json -> up(json).put("field", 3));
    damage("of-i32", json -> up(json).put("field", 4));
    damage("of-a-field-that-is-gone", json -> ((ArrayNode) json.get("fields")).remove(0));
    damage("of-a-field-of-another-type", json -> field(json, 0).put("dtype", "timestamp"));
    damage("of-a-tensor", json -> field(json, 0).putArray("shape").add(2));
    damage("of-absent-values", json -> field(json, 0).remove("nullable"));
    damage("of-a-write-default", json -> field(json, 0).put("write", "0000000000000000"));
    damage("of-a-default-text", json -> {
      field(json, 0).put("default", "now()");
      field(json, 0).putObject("features").putArray("write").add("default-expression");
    });
    damage("of-a-partition", json -> {
      json.putArray("partitions").add(1);
      json.get("shards")
          .forEach(shard -> ((ObjectNode) shard).putArray("partition").add("10"));
    });
  }
}
