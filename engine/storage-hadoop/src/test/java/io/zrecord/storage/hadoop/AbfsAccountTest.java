package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.URI;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * The contract of storages and a table on an account of Azure. {@code ZRECORD_TEST_ABFS} is the URI
 * of a directory, such as {@code abfss://container@account.dfs.core.windows.net/tests}, and
 * {@code ZRECORD_TEST_ABFS_KEY} the key of the account. Each test deletes the directory that it
 * made, but not the one that is named.
 */
@Tag("tier-4")
@EnabledIfEnvironmentVariable(
    named = AbfsAccountTest.LOCATION,
    matches = "abfss?://.+",
    disabledReason = "no account of Azure is named")
@EnabledIfEnvironmentVariable(
    named = AbfsAccountTest.KEY,
    matches = ".+",
    disabledReason = "the key of the account is not given")
final class AbfsAccountTest extends AbfsContractTest {
  static final String LOCATION = "ZRECORD_TEST_ABFS";
  static final String KEY = "ZRECORD_TEST_ABFS_KEY";

  @Override
  String location() {
    return System.getenv(LOCATION);
  }

  @Override
  Configuration settings() {
    Configuration settings = new Configuration();
    settings.set("fs.azure.account.key." + URI.create(location()).getHost(), System.getenv(KEY));
    return settings;
  }

  @Test
  void aTableIsWrittenAndRead() {
    TableCheck.writeAndRead(storage);
    assertThat(storage.listTree("manifest")).isNotEmpty();
  }
}
