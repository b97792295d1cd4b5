package io.zrecord.spark.path;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class UniformLocationTest {
  @Test
  void spellingsOfOnePlaceHaveOneForm() {
    for (List<String> spellings : List.of(
        List.of("s3a://bucket/a b", "s3://bucket/a b", "s3n://bucket/a b", "S3A://bucket/a b"),
        List.of("hdfs://nn/data", "hdfs://nn:8020/data", "HDFS://NN:8020/data"),
        List.of("hdfs://nn", "hdfs://nn:8020"),
        List.of("abfs://c@account/x", "abfss://c@account/x"))) {
      assertThat(spellings.stream().map(UniformLocation::of).distinct())
          .as(spellings.toString())
          .hasSize(1);
    }
  }

  @Test
  void otherPlacesHaveOtherForms() {
    assertThat(List.of(
                "s3a://bucket/a",
                "s3a://Bucket/a",
                "s3a://bucket/A",
                "s3a://bucket:8020/a",
                "hdfs://nn/a",
                "hdfs://nn:9000/a",
                "hdfs://nn:18020/a",
                "webhdfs://nn/a",
                "gs://bucket/a",
                "/a",
                "file:/a")
            .stream()
            .map(UniformLocation::of))
        .doesNotHaveDuplicates();
  }
}
