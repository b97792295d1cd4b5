package io.zrecord.nested;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.internal.format.FieldJson;
import io.zrecord.internal.format.JsonObject;
import io.zrecord.schema.FieldSpec;
import io.zrecord.schema.NestedType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class NestedGoldenTest {
  /** The bytes, the type as JSON and the content stay what they are. */
  @Test
  void valuesAreReadAndWrittenAsEver() throws IOException {
    JsonNode cases;
    try (InputStream in = getClass().getResourceAsStream("/golden/v2-nested.json")) {
      cases = new ObjectMapper().readTree(in);
    }
    assertThat(cases).hasSize(GoldenNested.COUNT);
    for (JsonNode golden : cases) {
      FieldSpec field = readField(golden.get("field"));
      NestedType type = field.type().requireTree();
      byte[] bytes = HexFormat.of().parseHex(golden.get("bytes").textValue());
      NestedArray read = new NestedView(type).read("golden", ByteBuffer.wrap(bytes));
      assertThat(new ObjectMapper().readTree(GoldenNested.json(read.value(0)).toString()))
          .isEqualTo(golden.get("value"));
      NestedColumn column = new NestedColumn(type);
      column.appendAll(read);
      assertThat(column.toBytes(new byte[0])).isEqualTo(bytes);
      assertThat((JsonNode) FieldJson.write(field)).isEqualTo(golden.get("field"));
    }
  }

  private static FieldSpec readField(JsonNode field) {
    ObjectNode manifest = JsonNodeFactory.instance.objectNode();
    manifest.putArray("fields").add(field);
    return FieldJson.readSchema(new JsonObject("golden", manifest)).fields().get(0);
  }
}
