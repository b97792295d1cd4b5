package io.zrecord.internal.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zrecord.errors.CorruptDataException;
import io.zrecord.errors.UnsupportedFormatException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FeaturesTest {
  private static JsonObject file(String members) {
    return SealedJson.open("/d/x.json", SealedJsonTest.sealed("{\"format\":2" + members));
  }

  @Test
  void aReaderRefusesWhatItMustKnow() {
    assertThatThrownBy(() -> file(",\"features\":{\"read\":[\"far\"]}").requireFormat())
        .isInstanceOf(UnsupportedFormatException.class)
        .hasMessage("Cannot read /d/x.json: it uses the feature 'far', which this release does not"
            + " know; upgrade zrecord");
  }

  @Test
  void aReaderIgnoresWhatOnlyAWriterMustKnow() {
    JsonObject json = file(",\"features\":{\"write\":[\"far\"]}").requireFormat();
    assertThat(Features.obstacle(json)).contains("it uses the feature 'far'");
  }

  @Test
  void aWriterMustKnowWhatReadersMustKnow() {
    assertThat(Features.obstacle(file(",\"features\":{\"read\":[\"far\"]}"))).isPresent();
  }

  @Test
  void aFeatureOfAFieldIsAnObstacleToWriters() {
    String field =
        ",\"fields\":[{\"id\":1,\"name\":\"a\",\"dtype\":\"u8\",\"compress\":\"raw\"%s}]";
    assertThat(Features.obstacle(file(String.format(field, "")))).isEmpty();
    for (String kind : new String[] {"read", "write"}) {
      String features = String.format(field, ",\"features\":{\"" + kind + "\":[\"far\"]}");
      assertThat(Features.obstacle(file(features)))
          .contains("its field 'a' uses the feature 'far'");
    }
    assertThat(Features.obstacle(file(String.format(field, "").replace("u8", "u7"))))
        .contains("its field 'a' uses the feature 'dtype u7'");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{}", "{\"read\":[],\"write\":[]}"})
  void noNameIsNoObstacle(String features) {
    JsonObject json =
        file(features.isEmpty() ? "" : ",\"features\":" + features).requireFormat();
    assertThat(Features.obstacle(json)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[]",
        "{\"read\":\"far\"}",
        "{\"read\":[1]}",
        "{\"read\":[\"Far\"]}",
        "{\"write\":[\"\"]}",
        "{\"write\":[\"9\"]}",
        "{\"write\":[\"a\\u0000\"]}"
      })
  void whatIsNoNameIsCorrupt(String features) {
    assertThatThrownBy(() -> file(",\"features\":" + features).requireFormat())
        .isInstanceOf(CorruptDataException.class);
  }

  @Test
  void at64NamesItEnds() {
    StringBuilder names = new StringBuilder("\"a0\"");
    for (int i = 1; i < 64; i++) {
      names.append(",\"a").append(i).append('"');
    }
    assertThat(Features.of(file(",\"features\":{\"write\":[" + names + "]}")).write())
        .hasSize(64);
    assertThatThrownBy(() -> Features.of(file(",\"features\":{\"write\":[" + names + ",\"b\"]}")))
        .isInstanceOf(CorruptDataException.class);
  }
}
