package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.zrecord.errors.CorruptDataException;
import io.zrecord.schema.RecordSchema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TypeJsonTest {
  private static RecordSchema read(String members) {
    try {
      ObjectNode manifest = (ObjectNode) new ObjectMapper()
          .readTree(
              "{\"fields\":[{\"id\":1,\"name\":\"f\",\"compress\":\"raw\",\"dtype\":\"nested\""
                  + members + "}]}");
      return FieldJson.readSchema(new JsonObject("test", manifest));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Test
  void aTreeIsReadAsItIsWritten() {
    assertThat(read(",\"type\":{\"list\":{\"struct\":[{\"name\":\"a\",\"type\":\"decimal(10,2)\"},"
                + "{\"name\":\"b\",\"type\":{\"map\":[\"utf8\",{\"dtype\":\"f32\",\"shape\":[2,3]}]}}]}}")
            .fields()
            .get(0)
            .type())
        .hasToString("list<struct<a:decimal(10,2),b:map<utf8,f32[2,3]>>>");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"list\":\"f8_e4m3\"}",
        "{\"list\":\"nested\"}",
        "{\"list\":\"decimal(39,0)\"}",
        "{\"union\":[\"i8\"]}",
        "{\"list\":{}}",
        "\"i8\"",
        "{\"list\":{\"list\":{\"list\":{\"list\":{\"list\":{\"list\":{\"list\":{\"list\":"
            + "{\"list\":\"i8\"}}}}}}}}}"
      })
  void aTreeOfALaterReleaseCostsTheField(String type) {
    RecordSchema schema = read(",\"type\":" + type);
    assertThat(schema.fields()).isEmpty();
    assertThat(schema.unreadable().get(0).feature()).startsWith("type ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        ",\"type\":7",
        ",\"type\":{\"list\":null}",
        ",\"type\":{\"list\":\"i8\"},\"shape\":[2]",
        ",\"type\":{\"list\":{\"dtype\":\"i8\",\"shape\":[-1]}}",
        ",\"type\":{\"list\":{\"dtype\":\"i8\",\"shape\":[0]}}",
        ",\"type\":{\"list\":{\"dtype\":\"utf8\",\"shape\":[2]}}",
        ",\"type\":{\"map\":[\"i8\"]}",
        ",\"type\":{\"map\":[{\"map\":[\"i8\",\"i8\"]},\"i8\"]}",
        ",\"type\":{\"struct\":[]}",
        ",\"type\":{\"struct\":{\"a\":\"i8\"}}",
        ",\"type\":{\"struct\":[{\"name\":\"a\"}]}",
        ",\"type\":{\"struct\":[{\"name\":\"\",\"type\":\"i8\"}]}",
        ",\"type\":{\"struct\":[{\"name\":\"a\",\"type\":\"i8\"},{\"name\":\"a\",\"type\":\"i8\"}]}"
      })
  void aTreeThatBreaksARuleIsDamage(String members) {
    assertThatThrownBy(() -> read(members)).isInstanceOf(CorruptDataException.class);
  }
}
