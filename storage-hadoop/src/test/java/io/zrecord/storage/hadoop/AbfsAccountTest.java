package io.zrecord.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;

import io.zrecord.storage.Storage;
import io.zrecord.storage.StorageContractTest;
import java.net.URI;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfEnvironmentVariable;

/**
 * The contract of storages and a table on an account of Azure. {@code ZRECORD_TEST_ABFS} is the URI
 * of a directory, such as {@code abfss://container@account.dfs.core.windows.net/tests}, and
 * {@code ZRECORD_TEST_ABFS_KEY} the key of the account. Each test deletes its files.
 */
@EnabledIfEnvironmentVariable(
    named = AbfsAccountTest.LOCATION,
    matches = "abfss?://.+",
    disabledReason = "no account of Azure is named")
@EnabledIfEnvironmentVariable(
    named = AbfsAccountTest.KEY,
    matches = ".+",
    disabledReason = "the key of the account is not given")
final class AbfsAccountTest extends StorageContractTest {
  static final String LOCATION = "ZRECORD_TEST_ABFS";
  static final String KEY = "ZRECORD_TEST_ABFS_KEY";

  @Override
  protected Storage emptyStorage() {
    String location = System.getenv(LOCATION);
    Configuration settings = new Configuration();
    settings.set("fs.azure.account.key." + URI.create(location).getHost(), System.getenv(KEY));
    return HadoopStorage.at(location + "/data of " + UUID.randomUUID(), settings);
  }

  @AfterEach
  void deleteFiles() {
    storage.listTree("").forEach(file -> storage.delete(file.name()));
  }

  @Test
  void aTableIsWrittenAndRead() {
    TableCheck.writeAndRead(storage);
    assertThat(storage.listTree("manifest")).isNotEmpty();
  }
}
