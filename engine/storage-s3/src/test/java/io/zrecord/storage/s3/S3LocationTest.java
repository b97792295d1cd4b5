package io.zrecord.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class S3LocationTest {
  @Test
  void aLocationIsNotDecoded() {
    S3Location location = S3Location.parse("s3://bucket/a b%20c/ü?#/");
    assertThat(location.bucket()).isEqualTo("bucket");
    assertThat(location.key("x")).isEqualTo("a b%20c/ü?#/x");
    assertThat(location.written()).isEqualTo("s3://bucket/a b%20c/ü?#");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3://bucket", "s3://bucket/", "S3A://bucket//"})
  void aWholeBucketIsALocation(String written) {
    S3Location location = S3Location.parse(written);
    assertThat(location.key("d/f")).isEqualTo("d/f");
    assertThat(location.directoryPrefix("")).isEmpty();
    assertThat(location.path("f")).matches("(?i)s3a?://bucket/f");
  }

  @Test
  void aDirectoryEndsWithASlash() {
    assertThat(S3Location.parse("s3a://b/p").directoryPrefix("d")).isEqualTo("p/d/");
    assertThat(S3Location.parse("s3a://b/p").directoryPrefix("")).isEqualTo("p/");
  }

  @Test
  void credentialsAreRefusedWithoutBeingRepeated() {
    assertThatThrownBy(() -> S3Location.parse("s3://key:secret@bucket/x"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("credentials")
        .hasMessageContaining("bucket/x")
        .hasMessageNotContaining("secret")
        .hasMessageNotContaining("key:");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3://", "s3:///x", "s3://b c/x", "s3://b:9000/x", "s3://ü/x"})
  void aLocationNeedsABucket(String written) {
    assertThatThrownBy(() -> S3Location.parse(written))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("s3://bucket/prefix");
  }

  @ParameterizedTest
  @ValueSource(strings = {"s3://bucket/../x", "s3://bucket//x", "s3://bucket/a/./x"})
  void aPrefixThatNoPathCanHaveIsRefused(String written) {
    assertThatThrownBy(() -> S3Location.parse(written))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("not allowed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"bucket/x", "http://bucket/x", "s3:bucket"})
  void anotherSchemeIsRefused(String written) {
    assertThatThrownBy(() -> S3Location.parse(written))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("s3://bucket/prefix");
  }
}
