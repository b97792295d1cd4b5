package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RedactionTest {
  private static final String SECRET = "wJalrXUtnFEMI/K7MDENG";

  @ParameterizedTest
  @ValueSource(
      strings = {
        "fs.s3a.secret.key",
        "fs.s3a.bucket.train.access.key",
        "fs.s3a.session.token",
        "fs.azure.account.key.acct.dfs.core.windows.net",
        "fs.azure.account.oauth2.client.secret.acct.dfs.core.windows.net",
        "fs.azure.sas.fixed.token",
        "fs.s3a.proxy.password"
      })
  void valuesOfSecretSettingsAreHidden(String name) {
    Configuration settings = new Configuration(false);
    settings.set(name, SECRET);
    assertThat(Redaction.of("cannot sign with " + SECRET + " now", settings))
        .isEqualTo("cannot sign with … now");
  }

  @Test
  void otherValuesAreShown() {
    Configuration settings = new Configuration(false);
    settings.set("fs.s3a.endpoint", "http://127.0.0.1:9000");
    settings.set("some.key", "short");
    String text = "no answer of http://127.0.0.1:9000 in short time";
    assertThat(Redaction.of(text, settings)).isEqualTo(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "HEAD, https://a.dfs.core.windows.net/c/p?upn=false&sig=wJalrXUtnFEMI%2F, rId",
        "of s3a://user:wJalrXUtnFEMI@bucket/x",
        "X-Amz-Signature=wJalrXUtnFEMI; next",
        "x-amz-security-token=wJalrXUtnFEMI&a=b",
        "sig=wJalrXUtnFEMI"
      })
  void signaturesPasswordsAndQueriesAreHidden(String text) {
    assertThat(Redaction.of(text, new Configuration(false)))
        .contains("…")
        .doesNotContain("wJalrXUtnFEMI");
  }

  @Test
  void causesAreHiddenToo() {
    Configuration settings = new Configuration(false);
    settings.set("fs.s3a.secret.key", SECRET);
    IOException failure =
        new IOException("outer", new IllegalStateException("key " + SECRET, new IOException("in")));
    Throwable shown = HadoopErrors.of(settings, "read", new Path("s3a://b/x"), failure);
    int causes = 0;
    for (Throwable e = shown; e != null; e = e.getCause()) {
      assertThat(e.toString()).doesNotContain(SECRET);
      causes++;
    }
    assertThat(causes).isEqualTo(4);
    IOException harmless = new IOException("outer", new IOException("inner"));
    assertThat(HadoopErrors.of(settings, "read", new Path("s3a://b/x"), harmless))
        .hasCause(harmless);
  }
}
