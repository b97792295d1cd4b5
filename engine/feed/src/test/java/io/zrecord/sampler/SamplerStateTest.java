package io.zrecord.sampler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class SamplerStateTest {
  private static final SamplerState STATE = new SamplerState(OptionalLong.of(12), -42, 3, 1L << 61);

  @Test
  void whatIsWrittenIsRead() {
    assertThat(STATE.toJson())
        .isEqualTo(
            "{\"format\":1,\"datasetVersion\":12,\"seed\":-42,\"epoch\":3,\"position\":2305843009213693952}");
    assertThat(SamplerState.fromJson(STATE.toJson())).isEqualTo(STATE);
    SamplerState shard = SamplerState.start(OptionalLong.empty(), Long.MIN_VALUE);
    assertThat(SamplerState.fromJson(shard.toJson())).isEqualTo(shard);
    assertThat(
            SamplerState.fromJson(
                " { \"position\" : 1, \"epoch\":0,\n\"seed\":5 ,\"datasetVersion\":null,\"format\":1 } "))
        .isEqualTo(new SamplerState(OptionalLong.empty(), 5, 0, 1));
  }

  @Test
  void anythingElseIsRefused() {
    for (String text : new String[] {
      "",
      "{}",
      "[]",
      "{\"format\":1}",
      STATE.toJson().replace("}", ",}"),
      STATE.toJson().replace("}", ",\"more\":1}"),
      STATE.toJson().replace("}", ",\"epoch\":3}"),
      STATE.toJson().replace("-42", "null"),
      STATE.toJson().replace("-42", "4.2"),
      STATE.toJson().replace("-42", "9999999999999999999"),
      STATE.toJson().replace(":3,", ":-3,"),
      STATE.toJson() + " ".repeat(10) + "x",
      STATE.toJson().replace("}", " ".repeat(2000) + "}")
    }) {
      assertThatThrownBy(() -> SamplerState.fromJson(text))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(
            () -> SamplerState.fromJson(STATE.toJson().replace("\"format\":1", "\"format\":2")))
        .hasMessageContaining("format 2")
        .hasMessageContaining("upgrade");
  }

  @Test
  void advancingCrossesEpochs() {
    Sampler ten = Samplers.sequential(10);
    SamplerState state = SamplerState.start(OptionalLong.empty(), 1);
    assertThat(state.advance(ten, 9).position()).isEqualTo(9);
    assertThat(state.advance(ten, 10)).isEqualTo(new SamplerState(OptionalLong.empty(), 1, 1, 0));
    assertThat(state.advance(ten, 9).advance(ten, 27))
        .isEqualTo(new SamplerState(OptionalLong.empty(), 1, 3, 6));
    assertThat(state.advance(Samplers.random(10, 1), 1000).position()).isEqualTo(1000);
    assertThatThrownBy(() -> state.advance(ten, -1)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> state.advance(Samplers.sequential(0), 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void anotherDatasetOrSeedIsRefused() {
    assertThat(STATE.requireFits(OptionalLong.of(12), -42)).isSameAs(STATE);
    assertThatThrownBy(() -> STATE.requireFits(OptionalLong.of(13), -42))
        .hasMessageContaining("version 13");
    assertThatThrownBy(() -> STATE.requireFits(OptionalLong.of(12), 42))
        .hasMessageContaining("seed 42");
  }
}
