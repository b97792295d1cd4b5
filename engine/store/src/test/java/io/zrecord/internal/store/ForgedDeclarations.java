package io.zrecord.internal.store;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.function.Consumer;

/** Manifests of {@code golden/v2-declarations} whose declarations were forged. */
final class ForgedDeclarations {
  private static final int CHECK = 0;
  private static final int PRIMARY_KEY = 2;
  private static final int FOREIGN_KEY = 4;

  private final Forging forging;

  private ForgedDeclarations(Forging forging) {
    this.forging = forging;
  }

  /** Takes a dataset. */
  interface Forging {
    /**
     * Forges a dataset.
     *
     * @param isSound the verdict
     * @param change changes the manifests of the versions that declare all
     */
    void forge(String name, boolean isSound, Consumer<ObjectNode> change);
  }

  static void forge(Forging forging) {
    ForgedDeclarations forged = new ForgedDeclarations(forging);
    forged.constraints();
    forged.order();
    forged.texts();
    forged.features();
  }

  private static ObjectNode declarations(JsonNode manifest) {
    return (ObjectNode) manifest.get("declarations");
  }

  private static ObjectNode constraint(JsonNode manifest, int i) {
    return (ObjectNode) declarations(manifest).get("constraints").get(i);
  }

  private static ObjectNode order(JsonNode manifest) {
    return (ObjectNode) declarations(manifest).get("writeOrder").get(0);
  }

  private static ObjectNode properties(JsonNode manifest) {
    return (ObjectNode) declarations(manifest).get("properties");
  }

  private void sound(String name, Consumer<ObjectNode> change) {
    forging.forge("declared-" + name, true, change);
  }

  private void damage(String name, Consumer<ObjectNode> change) {
    forging.forge("declared-" + name, false, change);
  }

  private void constraints() {
    sound("control", json -> {});
    sound("constraint-of-a-later-kind", json -> constraint(json, 3).put("kind", "exclude"));
    sound("constraint-with-a-later-member", json -> constraint(json, 3).put("rely", 1.5));
    sound(
        "constraint-of-a-field-that-is-gone", json -> fields(json, PRIMARY_KEY).add(4));
    damage("constraint-twice", json -> constraint(json, 1).put("name", "positive"));
    damage("constraint-without-a-name", json -> constraint(json, 1).put("name", ""));
    damage("constraint-of-a-long-name", json -> constraint(json, 1).put("name", "n".repeat(256)));
    damage("constraint-without-fields", json -> constraint(json, PRIMARY_KEY).putArray("fields"));
    damage("constraint-of-a-field-twice", json -> fields(json, PRIMARY_KEY).add(1));
    damage("constraint-of-field-0", json -> fields(json, PRIMARY_KEY).add(0));
    damage("constraint-of-a-field-to-come", json -> fields(json, PRIMARY_KEY).add(5));
    damage("constraint-of-a-field-by-name", json -> fields(json, PRIMARY_KEY).add("label"));
    damage("key-with-a-text", json -> constraint(json, PRIMARY_KEY).put("sql", "label >= 0"));
    damage("key-that-is-enforced", json -> constraint(json, PRIMARY_KEY).put("enforced", true));
    damage("check-without-a-text", json -> constraint(json, CHECK).remove("sql"));
    damage("check-that-is-enforced-by-1", json -> constraint(json, CHECK).put("enforced", 1));
    damage(
        "check-with-a-reference",
        json ->
            constraint(json, CHECK).putObject("references").put("table", "t").putArray("columns"));
    damage(
        "foreign-key-without-a-reference",
        json -> constraint(json, FOREIGN_KEY).remove("references"));
    damage(
        "foreign-key-without-columns",
        json -> ((ObjectNode) constraint(json, FOREIGN_KEY).get("references")).remove("columns"));
    damage(
        "foreign-key-of-no-table",
        json -> ((ObjectNode) constraint(json, FOREIGN_KEY).get("references")).put("table", ""));
    damage("constraints-that-are-none", json -> declarations(json).put("constraints", "none"));
  }

  private static ArrayNode fields(JsonNode manifest, int i) {
    return (ArrayNode) constraint(manifest, i).get("fields");
  }

  private void order() {
    sound("order-of-a-later-direction", json -> order(json).put("direction", "random"));
    sound("order-of-later-nulls", json -> order(json).put("nulls", "nowhere"));
    damage("order-without-a-direction", json -> order(json).remove("direction"));
    damage("order-of-a-field-twice", json -> order(json).put("field", 1));
    damage("order-of-a-field-to-come", json -> order(json).put("field", 5));
  }

  private void texts() {
    sound("property-of-a-later-release", json -> properties(json).put("zrecord.later", "x"));
    sound(
        "isolation-of-a-later-release", json -> properties(json).put("zrecord.isolation", "later"));
    sound("property-of-a-long-name", json -> properties(json).put("k".repeat(1024), "x"));
    sound("member-of-a-later-release", json -> declarations(json).put("later", 1.5));
    damage("property-without-a-name", json -> properties(json).put("", "x"));
    damage("property-that-is-a-number", json -> properties(json).put("a", 1));
    damage("property-with-a-zero", json -> properties(json).put("a", "\0"));
    damage("property-too-long", json -> properties(json).put("a", "x".repeat((1 << 16) + 1)));
    damage("properties-too-many", json -> {
      for (int i = 0; i < 1000; i++) {
        properties(json).put("p" + i, "");
      }
    });
    damage(
        "comment-too-long", json -> declarations(json).put("comment", "x".repeat((1 << 16) + 1)));
    damage("comment-that-is-null", json -> declarations(json).putNull("comment"));
    damage("that-are-a-list", json -> json.putArray("declarations"));
  }

  private void features() {
    damage("enforced-check-without-its-feature", json -> json.remove("features"));
    damage(
        "default-expression-without-its-feature",
        json -> ((ObjectNode) json.get("fields").get(1)).remove("features"));
    damage(
        "default-without-a-text",
        json -> ((ObjectNode) json.get("fields").get(2)).put("default", ""));
    damage(
        "default-with-a-zero",
        json -> ((ObjectNode) json.get("fields").get(2)).put("default", "\0"));
  }
}
